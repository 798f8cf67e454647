// SPDX-License-Identifier: GPL-2.0
/* Compiles if a timer is set up with its function (6.13 on). */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer);

void probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, NULL, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
}
