// The Tensor Cores by `tcgen05.mma` (sm_100a and relatives): one thread asks, operands in shared memory, accumulators in tensor
// memory: CHAINS of them, 128 lanes x 256 columns each. Proof as in tensor_mma.cu; here D begins as the product of constants
// (3 * DEPTH), the loop adds A*B and takes it away, and the last product makes it 6 * DEPTH.
#define ROWS 128
#define COLUMNS 256
#if defined(TCGEN05_FP16)
#define KIND "f16"
#define DEPTH 16
#define TYPES 0u
#elif defined(TCGEN05_BF16)
#define KIND "f16"
#define DEPTH 16
#define TYPES ((1u << 7) | (1u << 10))
#elif defined(TCGEN05_TF32)
#define KIND "tf32"
#define DEPTH 8
#define TYPES ((2u << 7) | (2u << 10))
#elif defined(TCGEN05_FP8)
#define KIND "f8f6f4"
#define DEPTH 32
#define TYPES 0u
#elif defined(TCGEN05_INT8)
#define KIND "i8"
#define DEPTH 32
#define TYPES ((1u << 7) | (1u << 10))
#define INTEGER
#elif defined(TCGEN05_FP6)  // E3M2
#define KIND "f8f6f4"
#define DEPTH 32
#define TYPES ((4u << 7) | (4u << 10))
#elif defined(TCGEN05_FP4)
#define DEPTH 64
#define SCALED "mxf4.block_scale.scale_vec::2X"
#define DEPTH_BIT 0u
#elif defined(TCGEN05_FP4_K96)  // cc 10.3
#define DEPTH 96
#define SCALED "mxf4.block_scale.scale_vec::2X"
#define DEPTH_BIT (1u << 31)
#elif defined(TCGEN05_NVFP4)
#define DEPTH 64
#define SCALED "mxf4nvf4.block_scale.scale_vec::4X"
#define DEPTH_BIT 0u
#endif
// Scales of 1 in every byte, and how the descriptor names their type.
#ifdef TCGEN05_NVFP4
#define SCALE_WORD 0x38383838u  // UE4M3
#define SCALE_TYPE 0u
#else
#define SCALE_WORD 0x7f7f7f7fu  // UE8M0
#define SCALE_TYPE (1u << 23)
#endif

// The instruction descriptor (PTX ISA, tcgen05): types, size of D, and whether A is negated.
// INT8 cannot, and for FP4 no manual says that it can: there a second A holds the negatives.
#ifdef SCALED
// E2M1 by E2M1.
#define SHAPE ((1u << 7) | (1u << 10) | ((COLUMNS / 8u) << 17) | SCALE_TYPE | ((ROWS / 128u) << 27) | DEPTH_BIT)
#elif defined(INTEGER)
#define SHAPE ((2u << 4) | TYPES | ((COLUMNS / 8u) << 17) | ((ROWS / 16u) << 24))
#else
#define SHAPE ((1u << 4) | TYPES | ((COLUMNS / 8u) << 17) | ((ROWS / 16u) << 24))
#endif
#if defined(INTEGER) || defined(SCALED)
#define NEGATED_SHAPE SHAPE
#else
#define NEGATED_SHAPE (SHAPE | (1u << 13))
#endif

#ifdef INTEGER
typedef int SUM;
#else
typedef float SUM;
#endif

#define A_BYTES (ROWS * ROW_BYTES)
#define B_BYTES (COLUMNS * ROW_BYTES)

__device__ __forceinline__ void product(uint d, ulong64 a, ulong64 b, uint shape, uint scales, uint add) {
#ifdef SCALED
    asm volatile("{.reg .pred p; setp.ne.b32 p, %5, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::" SCALED " [%0], %1, %2, %3, [%4], [%4], p;}"
                 ::"r"(d), "l"(a), "l"(b), "r"(shape), "r"(scales), "r"(add) : "memory");
#else
    asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::" KIND " [%0], %1, %2, %3, p;}"
                 ::"r"(d), "l"(a), "l"(b), "r"(shape), "r"(add) : "memory");
#endif
}
// False if they do not end: a kernel that spins for ever would take the GPU with it. 2^34 cycles are some ten seconds.
__device__ __forceinline__ bool wait_for_products(uint barrier, uint parity) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
    const ulong64 start = cycle_count();
    uint done = 0;
    while (done == 0 && cycle_count() - start < (1ull << 34)) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
    }
    return done != 0;
}

#define WORD_LIST "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define W4(i) "=r"(words[i]), "=r"(words[i + 1]), "=r"(words[i + 2]), "=r"(words[i + 3])
#define W16(i) W4(i), W4(i + 4), W4(i + 8), W4(i + 12)

extern "C" __global__ void __launch_bounds__(THREADS) tensor_tcgen05(double* out, ulong64* times, uint zero, uint rounds) {
    __shared__ __align__(128) uint a_set[3][A_BYTES / 4];  // varied, its negative, constant
    __shared__ __align__(128) uint b_set[2][B_BYTES / 4];  // varied, constant
    __shared__ __align__(8) ulong64 barrier_word;
    __shared__ uint memory_word, ended;
    const uint warp = threadIdx.x / 32;
    const uint barrier = (uint)__cvta_generic_to_shared(&barrier_word);
    if (warp == 0) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 512;\n"
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
                     ::"r"((uint)__cvta_generic_to_shared(&memory_word)) : "memory");
    }
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    for (uint i = threadIdx.x; i < A_BYTES / 4; i += THREADS) {
        a_set[0][i] = varied(i, 0, zero);
        a_set[1][i] = negated(a_set[0][i], i);
        a_set[2][i] = constant_a(row_block(i), i, zero);
    }
    for (uint i = threadIdx.x; i < B_BYTES / 4; i += THREADS) {
        b_set[0][i] = varied(i, 8, zero);
        b_set[1][i] = constant_b(i, zero);
    }
    asm volatile("fence.proxy.async;\ntcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    const uint memory = memory_word;
    const uint lanes = memory + ((warp * 32u) << 16);  // a warp sees the 32 lanes of its number in the group of four
    const uint scales = memory + 256u * CHAINS;
#ifdef SCALED
    // All scales are 2^0, so it does not matter which of them belongs where.
    for (uint column = 0; column < 32; ++column) {
        asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(lanes + 256u + column), "r"(SCALE_WORD) : "memory");
    }
    asm volatile("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
    if (threadIdx.x == 0) {
        const ulong64 plus = operand_descriptor(a_set[0], 1);
        const ulong64 b = operand_descriptor(b_set[0], 1);
        const ulong64 constant = operand_descriptor(a_set[2], 1);
        const ulong64 constants = operand_descriptor(b_set[1], 1);
#if defined(INTEGER) || defined(SCALED)
        const ulong64 minus = operand_descriptor(a_set[1], 1);
#else
        const ulong64 minus = plus;
#endif
        UNROLLED for (uint c = 0; c < CHAINS; ++c) product(memory + c * 256u, constant, constants, SHAPE, scales, 0);
        bool all = wait_for_products(barrier, 0);
        TIMED_BEGIN
        NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
            UNROLLED for (uint u = 0; u < UNROLL; u += 2) {
                UNROLLED for (uint c = 0; c < CHAINS; ++c) product(memory + c * 256u, plus, b, SHAPE, scales, 1);
                UNROLLED for (uint c = 0; c < CHAINS; ++c) product(memory + c * 256u, minus, b, NEGATED_SHAPE, scales, 1);
            }
        }
        all = all && wait_for_products(barrier, 1);
        TIMED_END
        UNROLLED for (uint c = 0; c < CHAINS; ++c) product(memory + c * 256u, constant, constants, SHAPE, scales, 1);
        ended = all && wait_for_products(barrier, 0);
        TIMED_REPORT(times)
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    }
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    SUM sum = 0;  // not in FP64, which some GPUs have two lanes of: it would take longer than the loop
    for (uint column = 0; column < 256 * CHAINS && ended != 0; column += 32) {
        uint words[32];  // at once: a load and a wait for each would take longer than some loops
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 " WORD_LIST ", [%32];\ntcgen05.wait::ld.sync.aligned;"
                     : W16(0), W16(16) : "r"(lanes + column) : "memory");
        UNROLLED for (uint i = 0; i < 32; ++i) {
#ifdef INTEGER
            sum += (int)words[i];
#else
            sum += __uint_as_float(words[i]);
#endif
        }
    }
    out[blockIdx.x * THREADS + threadIdx.x] = ended != 0 ? (double)sum : -2.0;
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 512;" ::"r"(memory) : "memory");
}
