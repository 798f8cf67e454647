/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network namespaces, named as ip names them.
 */
#ifndef _NETNS_H
#define _NETNS_H

#define NETNS_DIR	"/run/netns"

int netns_open(const char *name);
int netns_create(const char *name);
void netns_delete(const char *name);
void netns_enter(int fd);

#endif /* _NETNS_H */
