// SPDX-License-Identifier: GPL-2.0
/*
 * The flow-control modes by their number in netlink, and `fc none`.
 */
#include "bfc.h"

const struct bfc_fc_ops bfc_fc_none = {
	.classes	= 1,
	.identity	= BFC_FLOW_TUPLE,
};

/* Generated from spec/bfc.yaml: modes */
static const struct bfc_fc_ops * const bfc_fc_table[__BFC_FC_MAX] = {
	[BFC_FC_NONE] = &bfc_fc_none,
	[BFC_FC_BFC] = &bfc_fc_bfc,
	[BFC_FC_PFC] = &bfc_fc_pfc,
	[BFC_FC_CAPFC_MAX] = &bfc_fc_capfc_max,
	[BFC_FC_CAPFC_CAL] = &bfc_fc_capfc_cal,
	[BFC_FC_FAFC] = &bfc_fc_fafc,
};

/* End of modes */

/**
 * bfc_fc_of() - the mode of the options
 * @p: options, checked
 *
 * Return: the mode.
 */
const struct bfc_fc_ops *bfc_fc_of(const struct bfc_params *p)
{
	return bfc_fc_table[p->fc];
}

/**
 * bfc_fc_disable() - fair queueing only
 * @p: options; gets fc none
 */
void bfc_fc_disable(struct bfc_params *p)
{
	p->fc = BFC_FC_NONE;
}
