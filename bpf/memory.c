// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations: the program ends if there is no memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/**
 * need() - end the program if an allocation has failed
 * @memory: what malloc() or its like has returned
 *
 * Return: @memory; the program ends if there is none.
 */
void *need(void *memory)
{
	if (!memory) {
		fputs("bfcctl: out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

/**
 * grow() - room for one more element
 * @array: of elements, or NULL
 * @n: how many there are
 * @size: of an element
 *
 * Return: the array, in which the new element is zero.
 */
void *grow(void *array, uint32_t n, size_t size)
{
	if (n & (n - 1))	/* there is room up to the next power of two */
		return array;
	array = need(realloc(array, (n ? 2 * (size_t)n : 1) * size));
	memset((char *)array + n * size, 0, (n ?: 1) * size);
	return array;
}
