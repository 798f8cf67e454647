/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of the kernel's log about bfc.
 */
#ifndef KLOG_H
#define KLOG_H

#include <stdio.h>

void klog_filter(const char *log, FILE *to);

#endif /* KLOG_H */
