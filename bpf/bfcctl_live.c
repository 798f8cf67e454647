// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this namespace and their root qdiscs, all at once, for "bfcctl apply".
 */
#include <stdlib.h>
#include <string.h>

#include "bfcctl.h"
#include "bfcctl_live.h"
#include "bfcctl_qdiscs.h"

struct live *live;
unsigned int n_live;

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
 *
 * Ends the program if qdiscs_get() does.
 */
void live_look(void)
{
	struct qdiscs q;
	unsigned int i;

	forget();
	qdiscs_get(&q);
	for (i = 0; i < q.n_devices; i++) {
		live = grow(live, n_live, sizeof(*live));
		live[n_live].ifindex = q.devices[i].ifindex;
		memcpy(live[n_live].name, q.devices[i].name, sizeof(live->name));
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
