/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations: the program ends if there is no memory.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *need(void *memory);
void *grow(void *array, uint32_t n, size_t size);

#endif /* MEMORY_H */
