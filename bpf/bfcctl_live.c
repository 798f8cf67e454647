// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this namespace and their root qdiscs, all at once, for "bfcctl apply".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bfcctl.h"
#include "bfcctl_live.h"
#include "bfcctl_qdiscs.h"

#define UDEV		"/run/udev"

struct live *live;
unsigned int n_live;

/* True where udev runs, and names the devices of this network namespace: it is that of the
 * first process.
 */
static bool has_udev(void)
{
	struct stat here, first;

	return !access(UDEV "/control", F_OK) &&
	       !stat("/proc/self/ns/net", &here) && !stat("/proc/1/ns/net", &first) &&
	       here.st_dev == first.st_dev && here.st_ino == first.st_ino;
}

/* True until udev has done what its rules say about the device: then it writes "I:" and the
 * time into what it keeps about it (sd_device_get_is_initialized(3)). Of lo it tells nothing.
 */
static bool udev_will_name(const struct live *l)
{
	char path[64], *line = NULL;
	bool done = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), UDEV "/data/n%d", l->ifindex);
	file = fopen(path, "r");
	while (file && !done && getline(&line, &room, file) >= 0)
		done = !strncmp(line, "I:", 2);
	free(line);
	if (file)
		fclose(file);
	return !done && strcmp(l->name, "lo");
}

/* Qdiscs without a handle are ignored: the kernel adds them itself, and any
 * other qdisc may take their place.
 */
static void add_qdisc(const struct port *port, void *arg)
{
	struct live *l = NULL;
	unsigned int i;

	(void)arg;
	for (i = 0; i < n_live; i++)
		if (live[i].ifindex == port->ifindex)
			l = &live[i];
	if (!l || !port->handle)
		return;
	memcpy(l->kind, port->kind, sizeof(l->kind));
	l->handle = port->handle;
	l->mq = port->stats.value[TCA_BFC_STATS_TXQS];
	l->pinned = port->stamp == BFC_STAMP_PINNED;
	l->prog_id = port->prog_id;
	if (strcmp(port->kind, "bfc") || !port->options)
		return;
	l->options = need(malloc(port->options->rta_len));
	memcpy(l->options, port->options, port->options->rta_len);
}

static void forget(void)
{
	while (n_live)
		free(live[--n_live].options);
	free(live);
	live = NULL;
}

/**
 * live_look() - fill @live, anew
 * @with_udev: see which devices udev has still to name
 *
 * Ends the program if qdiscs_get() does.
 */
void live_look(bool with_udev)
{
	bool udev = with_udev && has_udev();
	struct qdiscs q;
	unsigned int i;

	forget();
	qdiscs_get(&q);
	for (i = 0; i < q.n_devices; i++) {
		live = grow(live, n_live, sizeof(*live));
		live[n_live].ifindex = q.devices[i].ifindex;
		memcpy(live[n_live].name, q.devices[i].name, sizeof(live->name));
		live[n_live].unnamed = udev && udev_will_name(&live[n_live]);
		n_live++;
	}
	ports_each_of(&q, add_qdisc, NULL);
	qdiscs_free(&q);
}

/**
 * live_exists() - whether there is a device
 * @name: of it
 */
bool live_exists(const char *name)
{
	unsigned int i;

	for (i = 0; i < n_live; i++)
		if (!strcmp(live[i].name, name))
			return true;
	return false;
}

/**
 * live_unnamed() - whether udev had still to give a device its name
 * @ifindex: of the device
 */
bool live_unnamed(int ifindex)
{
	unsigned int i;

	for (i = 0; i < n_live; i++)
		if (live[i].ifindex == ifindex)
			return live[i].unnamed;
	return false;
}
