// What the three Tensor Core kernels share: packed constants of each type, and the operands made of them.
// PACKED_1_5 * PACKED_2 is 3, PACKED_1 * PACKED_2 is 2 (INT8: 1); MANTISSA marks bits that may be set over PACKED_1 to make other numbers, exact in every type.
#if defined(OPERAND_FP16)
#define PACKED_1 0x3c003c00u
#define PACKED_1_5 0x3e003e00u
#define PACKED_2 0x40004000u
#define SIGNS 0x80008000u
#define MANTISSA 0x01000100u
#elif defined(OPERAND_BF16)
#define PACKED_1 0x3f803f80u
#define PACKED_1_5 0x3fc03fc0u
#define PACKED_2 0x40004000u
#define SIGNS 0x80008000u
#define MANTISSA 0x00200020u
#elif defined(OPERAND_TF32)
#define PACKED_1 0x3f800000u
#define PACKED_1_5 0x3fc00000u
#define PACKED_2 0x40000000u
#define SIGNS 0x80000000u
#define MANTISSA 0x00200000u
#elif defined(OPERAND_INT8)
#define PACKED_1 0x01010101u
#define PACKED_1_5 0x03030303u  // 3 * 1 where floating types have 1.5 * 2
#define PACKED_2 0x01010101u
#define MANTISSA 0x04040404u
#elif defined(OPERAND_FP8)  // E4M3
#define PACKED_1 0x38383838u
#define PACKED_1_5 0x3c3c3c3cu
#define PACKED_2 0x40404040u
#define SIGNS 0x80808080u
#define MANTISSA 0x02020202u
#elif defined(OPERAND_FP6)  // E3M2, in the low six bits of each byte
#define PACKED_1 0x0c0c0c0cu
#define PACKED_1_5 0x0e0e0e0eu
#define PACKED_2 0x10101010u
#define SIGNS 0x20202020u
#define MANTISSA 0x01010101u
#elif defined(OPERAND_FP4)  // E2M1, eight in a register
#define PACKED_1 0x22222222u
#define PACKED_1_5 0x33333333u
#define PACKED_2 0x44444444u
#define SIGNS 0x88888888u
#define MANTISSA 0x11111111u
#endif

// The operands of the loop differ from place to place: all-equal bits would draw less power and so run at a higher clock.
// `zero` is 0, but only the host knows: constants that the compiler could see it would fold.
#ifdef OPERAND_FP64
// The last product, which proves that the unit multiplied, has an A whose rows differ in turn: 1.5 and 1. A unit that takes
// operands from other places than the kernel put them to gives another result.
typedef double OPERAND;
__device__ __forceinline__ OPERAND varied(uint place, uint i, uint zero) { return 1.0 + 0.25 * ((place * 7 + i * 3) & 3) + zero; }
__device__ __forceinline__ OPERAND constant_a(uint row, uint zero) { return ((row & 1u) ? 1.0 : 1.5) + zero; }
__device__ __forceinline__ OPERAND constant_b(uint zero) { return 2.0 + zero; }
__device__ __forceinline__ OPERAND negated(OPERAND x) { return -x; }
#else
typedef uint OPERAND;
__device__ __forceinline__ OPERAND varied(uint place, uint i, uint zero) {
    const uint pick = (place + 1) * 0x9e3779b9u + (i + 1) * 0x85ebca6bu;
    return (PACKED_1 | (MANTISSA & (pick ^ (pick >> 13)))) + zero;
}
__device__ __forceinline__ OPERAND constant_a(uint row, uint zero) { return ((row & 1u) ? PACKED_1 : PACKED_1_5) + zero; }
__device__ __forceinline__ OPERAND constant_b(uint zero) { return PACKED_2 + zero; }
#ifdef SIGNS
__device__ __forceinline__ OPERAND negated(OPERAND x) { return x ^ SIGNS; }
#else
// No byte is zero, so no carry crosses into the next.
__device__ __forceinline__ OPERAND negated(OPERAND x) { return ~x + 0x01010101u; }
#endif
#endif

// A matrix in shared memory as core matrices of 8 rows x 16 bytes: 128 bytes to the next along k, 256 along the rows, no
// swizzle (PTX ISA, matrix descriptor). `version` is the three bits from 46 on: 0 for wgmma, 1 for tcgen05.
__device__ __forceinline__ ulong64 operand_descriptor(const void* p, ulong64 version) {
    const ulong64 address = (ulong64)__cvta_generic_to_shared(p);
    return ((address & 0x3ffffu) >> 4) | ((ulong64)(128 >> 4) << 16) | ((ulong64)(256 >> 4) << 32) | (version << 46);
}
// Which eight rows of such a matrix word `i` belongs to.
__device__ __forceinline__ uint row_block(uint i) { return i * 4u / 256u; }
