// The Tensor Cores by `wgmma` (sm_90a): four warps together, operands in shared memory, accumulators in registers. Proof as in
// tensor_mma.cu; here the instruction itself can negate A, and where it cannot (INT8) a second A holds the negatives.
// Operands lie as core matrices of 8 rows x 16 bytes without swizzle: read without bank conflicts, and an operand of constants
// would be the same matrix in every layout: so that of the proof differs by rows.
#if defined(WGMMA_FP16)
#define INSTRUCTION "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
#define DEPTH 16
#elif defined(WGMMA_BF16)
#define INSTRUCTION "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
#define DEPTH 16
#elif defined(WGMMA_TF32)
#define INSTRUCTION "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
#define DEPTH 8
#elif defined(WGMMA_FP8)
#define INSTRUCTION "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 "
#define DEPTH 32
#elif defined(WGMMA_INT8)
#define INSTRUCTION "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
#define DEPTH 32
#endif
#if defined(WGMMA_FP16) || defined(WGMMA_BF16)
#define PLUS ", p, 1, 1, 0, 0;}"
#define MINUS ", p, -1, 1, 0, 0;}"
#elif defined(WGMMA_INT8)
#define PLUS ", p;}"
#else
#define PLUS ", p, 1, 1;}"
#define MINUS ", p, -1, 1;}"
#endif
#ifdef WGMMA_INT8
typedef int ACC;
#define ACC_CONSTRAINT "+r"
#else
typedef float ACC;
#define ACC_CONSTRAINT "+f"
#endif

#define D_LIST "{" \
    "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
    "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
    "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
    "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63," \
    "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
    "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95," \
    "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
    "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127" \
    "}"
#define E1(i) ACC_CONSTRAINT(d[i])
#define E4(i) E1(i), E1(i + 1), E1(i + 2), E1(i + 3)
#define E16(i) E4(i), E4(i + 4), E4(i + 8), E4(i + 12)
#define E64(i) E16(i), E16(i + 16), E16(i + 32), E16(i + 48)
// The predicate says that D is added to.
#define WGMMA(SIGN, A, B) \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0;\n" INSTRUCTION D_LIST ", %128, %129" SIGN : E64(0), E64(64) : "l"(A), "l"(B))

#define A_BYTES (64 * ROW_BYTES)
#define B_BYTES (256 * ROW_BYTES)

__device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS) tensor_wgmma(double* out, ulong64* times, uint zero, uint rounds) {
    __shared__ __align__(128) uint a_set[2][A_BYTES / 4];
    __shared__ __align__(128) uint b_set[B_BYTES / 4];
    for (uint i = threadIdx.x; i < A_BYTES / 4; i += THREADS) {
        a_set[0][i] = varied(i, 0, zero);
        a_set[1][i] = negated(a_set[0][i], i);
    }
    for (uint i = threadIdx.x; i < B_BYTES / 4; i += THREADS) b_set[i] = varied(i, 8, zero);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const ulong64 plus = operand_descriptor(a_set[0], 0);
    const ulong64 b = operand_descriptor(b_set, 0);
    ACC d[128];
    UNROLLED for (uint i = 0; i < 128; ++i) d[i] = (ACC)1;
#ifndef MINUS
    const ulong64 minus = operand_descriptor(a_set[1], 0);
#endif
    TIMED_BEGIN
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        begin_products();
        UNROLLED for (uint u = 0; u < UNROLL; u += 2) {
            WGMMA(PLUS, plus, b);
#ifdef MINUS
            WGMMA(MINUS, plus, b);
#else
            WGMMA(PLUS, minus, b);
#endif
        }
        end_products();
    }
    TIMED_END
    __syncthreads();
    for (uint i = threadIdx.x; i < A_BYTES / 4; i += THREADS) a_set[0][i] = constant_a(row_block(i), i, zero);
    for (uint i = threadIdx.x; i < B_BYTES / 4; i += THREADS) b_set[i] = constant_b(i, zero);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    begin_products();
    WGMMA(PLUS, plus, b);
    end_products();
    ACC sum = 0;
    // Of each four elements the last two are eight rows further down. They count twice, so that rows mixed up show in the sum.
    UNROLLED for (uint i = 0; i < 128; ++i) sum += d[i] * (ACC)(1u + ((i >> 1) & 1u));
    const uint thread = blockIdx.x * THREADS + threadIdx.x;
    out[thread] = (double)sum;
    TIMED_REPORT(times)
}
