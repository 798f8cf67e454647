// SPDX-License-Identifier: GPL-2.0
/* Compiles if a program's helpers need a context from who runs it (6.11 on). */
#include <linux/filter.h>

void probe(void);

void probe(void)
{
	struct bpf_net_context ctx;

	bpf_net_ctx_clear(bpf_net_ctx_set(&ctx));
}
