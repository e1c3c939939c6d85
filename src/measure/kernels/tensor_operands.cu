// What the three Tensor Core kernels share: packed constants of each type, and the operands made of them.
// PACKED_1_5 * PACKED_2 is 3, PACKED_1 * PACKED_2 is 2 (INT8: 1); MANTISSA marks bits that may be set over PACKED_1 to make other numbers, exact in every type.
// RANDOM marks those of the realistic variant: as many as leave every sum of products exact in the accumulator, so that what the
// loop adds it can take away again.
#if defined(OPERAND_FP16)
#define PACKED_1 0x3c003c00u
#define PACKED_1_5 0x3e003e00u
#define PACKED_2 0x40004000u
#define SIGNS 0x80008000u
#define MANTISSA 0x01000100u
#define RANDOM 0x03e003e0u
#elif defined(OPERAND_BF16)
#define PACKED_1 0x3f803f80u
#define PACKED_1_5 0x3fc03fc0u
#define PACKED_2 0x40004000u
#define SIGNS 0x80008000u
#define MANTISSA 0x00200020u
#define RANDOM 0x007c007cu
#elif defined(OPERAND_TF32)
#define PACKED_1 0x3f800000u
#define PACKED_1_5 0x3fc00000u
#define PACKED_2 0x40000000u
#define SIGNS 0x80000000u
#define MANTISSA 0x00200000u
#define RANDOM 0x007c0000u
#elif defined(OPERAND_INT8)
#define PACKED_1 0x01010101u
#define PACKED_1_5 0x03030303u  // 3 * 1 where floating types have 1.5 * 2
#define PACKED_2 0x01010101u
#define MANTISSA 0x04040404u
#define RANDOM 0xfefefefeu
#elif defined(OPERAND_FP8)  // E4M3
#define PACKED_1 0x38383838u
#define PACKED_1_5 0x3c3c3c3cu
#define PACKED_2 0x40404040u
#define SIGNS 0x80808080u
#define MANTISSA 0x02020202u
#define RANDOM 0x07070707u
#elif defined(OPERAND_FP6)  // E3M2, in the low six bits of each byte
#define PACKED_1 0x0c0c0c0cu
#define PACKED_1_5 0x0e0e0e0eu
#define PACKED_2 0x10101010u
#define SIGNS 0x20202020u
#define MANTISSA 0x01010101u
#define RANDOM 0x03030303u
#elif defined(OPERAND_FP6_PACKED)  // E3M2, one number: sixteen of them fill three words, and a fourth is padding
#define PACKED_1 0x0cu
#define PACKED_1_5 0x0eu
#define PACKED_2 0x10u
#define SIGNS 0x20u
#define MANTISSA 0x01u
#define RANDOM 0x03u
#elif defined(OPERAND_FP4)  // E2M1, eight in a register
#define PACKED_1 0x22222222u
#define PACKED_1_5 0x33333333u
#define PACKED_2 0x44444444u
#define SIGNS 0x88888888u
#define MANTISSA 0x11111111u
#define RANDOM 0x11111111u
#endif
// An accumulator of 16 bits has no room for more.
#ifdef NARROW_ACCUMULATOR
#undef RANDOM
#define RANDOM MANTISSA
#endif

// Word `i` of a matrix whose elements all are this pattern.
#ifdef OPERAND_FP6_PACKED
__device__ __forceinline__ uint pattern(uint six, uint i) {
    return (i & 3u) == 3u ? 0u : (uint)((six * 0x1041041041ull) >> ((i & 3u) * 2u));
}
#else
__device__ __forceinline__ uint pattern(uint packed, uint) { return packed; }
#endif

// The operands of the loop differ from place to place: all-equal bits would draw less power and so run at a higher clock. With
// RANDOM_OPERANDS their signs are random too, and more of their bits: the power that real data draws.
// `zero` is 0, but only the host knows: constants that the compiler could see it would fold.
__device__ __forceinline__ uint random_bits(uint place, uint i) {
    const uint pick = (place + 1) * 0x9e3779b9u + (i + 1) * 0x85ebca6bu;
    return pick ^ (pick >> 13);
}
__device__ __forceinline__ uint random_signs(uint place, uint i) {
    const uint pick = random_bits(place, i) * 0xc2b2ae35u;
    return pick ^ (pick >> 16);
}
#ifdef OPERAND_FP64
// The last product, which proves that the unit multiplied, has an A whose rows differ in turn: 1.5 and 1. A unit that takes
// operands from other places than the kernel put them to gives another result.
typedef double OPERAND;
__device__ __forceinline__ OPERAND varied(uint place, uint i, uint zero) {
#ifdef RANDOM_OPERANDS
    const double size = 1.0 + (random_bits(place, i) & 0xfffffu) * (1.0 / 1048576) + zero;
    return (random_signs(place, i) & 1u) ? -size : size;
#else
    return 1.0 + 0.25 * ((place * 7 + i * 3) & 3) + zero;
#endif
}
__device__ __forceinline__ OPERAND constant_a(uint row, uint, uint zero) { return ((row & 1u) ? 1.0 : 1.5) + zero; }
__device__ __forceinline__ OPERAND constant_b(uint, uint zero) { return 2.0 + zero; }
__device__ __forceinline__ OPERAND negated(OPERAND x, uint) { return -x; }
#else
typedef uint OPERAND;
// `i` tells several operands of one place apart; constants have the number of their word in the matrix instead.
__device__ __forceinline__ OPERAND varied(uint place, uint i, uint zero) {
#ifndef RANDOM_OPERANDS
    return (pattern(PACKED_1, place) | (pattern(MANTISSA, place) & random_bits(place, i))) + zero;
#elif defined(SIGNS)
    return ((pattern(PACKED_1, place) | (pattern(RANDOM, place) & random_bits(place, i))) ^
            (pattern(SIGNS, place) & random_signs(place, i))) + zero;
#else
    return (pattern(PACKED_1, place) | (pattern(RANDOM, place) & random_signs(place, i))) + zero;
#endif
}
__device__ __forceinline__ OPERAND constant_a(uint row, uint word, uint zero) {
    return pattern((row & 1u) ? PACKED_1 : PACKED_1_5, word) + zero;
}
__device__ __forceinline__ OPERAND constant_b(uint word, uint zero) { return pattern(PACKED_2, word) + zero; }
#ifdef SIGNS
__device__ __forceinline__ OPERAND negated(OPERAND x, uint word) { return x ^ pattern(SIGNS, word); }
#else
// No byte is zero, so no carry crosses into the next.
__device__ __forceinline__ OPERAND negated(OPERAND x, uint) { return ~x + 0x01010101u; }
#endif
#endif

// Bytes that a row of A, or a column of B, has in shared memory: the depth of one product.
#ifdef TCGEN05_FP4_K96
#define ROW_BYTES 48
#else
#define ROW_BYTES 32
#endif
// A matrix in shared memory as core matrices of 8 rows x 16 bytes: 128 bytes to the next along k, eight rows' bytes along the
// rows, no swizzle (PTX ISA, matrix descriptor). `version` is the three bits from 46 on: 0 for wgmma, 1 for tcgen05.
__device__ __forceinline__ ulong64 operand_descriptor(const void* p, ulong64 version) {
    const ulong64 address = (ulong64)__cvta_generic_to_shared(p);
    return ((address & 0x3ffffu) >> 4) | ((ulong64)(128 >> 4) << 16) | ((ulong64)(8 * ROW_BYTES >> 4) << 32) | (version << 46);
}
// Which eight rows of such a matrix word `i` belongs to.
__device__ __forceinline__ uint row_block(uint i) { return i * 4u / (8u * ROW_BYTES); }
