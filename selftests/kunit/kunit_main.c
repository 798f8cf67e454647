// SPDX-License-Identifier: GPL-2.0
/*
 * bfc_kunit - the unit tests of what module and user space share
 * (selftests/unit), compiled as the module is and run in the kernel. The suites
 * are in the other files; KUnit runs them when the module is loaded.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("Unit tests of sch_bfc's pure parts");
MODULE_LICENSE("GPL");
