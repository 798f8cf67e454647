// SPDX-License-Identifier: GPL-2.0
/*
 * What the suites test, once more: sch_bfc.ko exports nothing, and kbuild compiles an
 * object for one module only. (test_pool.c includes bfc_pool.c itself.)
 */
#include "../../sch_bfc/pure/bfc_alloc.c"
#include "../../sch_bfc/pure/bfc_bucket.c"
#include "../../sch_bfc/pure/bfc_capfc.c"
#include "../../sch_bfc/pure/bfc_fafc.c"
#include "../../sch_bfc/pure/bfc_holt.c"
#include "../../sch_bfc/pure/bfc_peer.c"
#include "../../sch_bfc/pure/bfc_pfc.c"
#include "../../sch_bfc/pure/bfc_pfc_wire.c"
#include "../../sch_bfc/pure/bfc_slots.c"
#include "../../sch_bfc/pure/bfc_thresh.c"
#include "../../sch_bfc/pure/bfc_hrtt.c"
#include "../../sch_bfc/pure/bfc_ramp.c"
#include "../../sch_bfc/pure/bfc_watchdog.c"
#include "../../sch_bfc/pure/bfc_wire.c"
