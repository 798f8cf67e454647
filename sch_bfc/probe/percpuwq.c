// SPDX-License-Identifier: GPL-2.0
/* Compiles if system_wq has its new name (6.17 on; 7.2 warns of the old one). */
#include <linux/workqueue.h>

bool probe(struct work_struct *work);

bool probe(struct work_struct *work)
{
	return queue_work(system_percpu_wq, work);
}
