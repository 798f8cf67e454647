/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's byte order, for user space. */
#ifndef _SHIM_ASM_BYTEORDER_H
#define _SHIM_ASM_BYTEORDER_H

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define cpu_to_be16(x)	__builtin_bswap16(x)
#define cpu_to_be32(x)	__builtin_bswap32(x)
#define cpu_to_be64(x)	__builtin_bswap64(x)
#else
#define cpu_to_be16(x)	((u16)(x))
#define cpu_to_be32(x)	((u32)(x))
#define cpu_to_be64(x)	((u64)(x))
#endif

#define be16_to_cpu(x)	cpu_to_be16(x)
#define be32_to_cpu(x)	cpu_to_be32(x)
#define be64_to_cpu(x)	cpu_to_be64(x)

#endif /* _SHIM_ASM_BYTEORDER_H */
