/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* The version of the module and of bfcctl, which belong together. */
#ifndef _UAPI_LINUX_BFC_VERSION_H
#define _UAPI_LINUX_BFC_VERSION_H

#define BFC_RELEASE "0.2.0"

#endif
