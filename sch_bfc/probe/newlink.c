// SPDX-License-Identifier: GPL-2.0
/* Compiles if newlink has its parameters in a struct (6.15 on). */
#include <net/rtnetlink.h>

const struct net *probe(const struct rtnl_newlink_params *params);

const struct net *probe(const struct rtnl_newlink_params *params)
{
	return params->src_net;
}
