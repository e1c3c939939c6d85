// The Tensor Cores by warp-wide `mma`, operands in registers: no memory, so the matrix unit is the one thing that limits.
// Each chain is an accumulator D; the loop adds A*B and takes it away again, so D stays small and exact in every type
// whatever the unit does with low bits, and after the loop it is what it was. One last product of
// matrices that are constant but for odd rows of A then adds DEPTH * 3, or 2: a unit that did not multiply is found out.
#define D4 "{%0,%1,%2,%3}"
#define A4B2 "{%4,%5,%6,%7}, {%8,%9}"
#define OUT4(C) C(d[0]), C(d[1]), C(d[2]), C(d[3])
#define OUT_F(x) "+f"(x)
#define OUT_R(x) "+r"(x)
#define OUT_D(x) "+d"(x)
#define IN_A4B2 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define MMA_FUNCTION __device__ __forceinline__ void mma(ACC* d, const OPERAND* a, const OPERAND* b)


#if defined(MMA_FP16_M16N8K16) || defined(MMA_BF16_M16N8K16) || defined(MMA_TF32_M16N8K8) || defined(MMA_FP8_M16N8K32) || \
    defined(MMA_FP6_M16N8K32) || defined(MMA_FP4_M16N8K64)
typedef float ACC;
#define A_REGISTERS 4
#define B_REGISTERS 2
#define D_REGISTERS 4
#if defined(MMA_FP16_M16N8K16)
#define DEPTH 16
#define INSTRUCTION "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#elif defined(MMA_BF16_M16N8K16)
#define DEPTH 16
#define INSTRUCTION "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#elif defined(MMA_TF32_M16N8K8)
#define DEPTH 8
#define INSTRUCTION "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
#elif defined(MMA_FP8_M16N8K32)
#define DEPTH 32
#define INSTRUCTION "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
#elif defined(MMA_FP6_M16N8K32)
#define DEPTH 32
#define INSTRUCTION "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32 "
#else
#define DEPTH 64
#define INSTRUCTION "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
#define SCALES ", {%10}, {0, 0}, {%10}, {0, 0}"
#endif
#ifdef SCALES
// UE8M0: 127 is 2^0.
MMA_FUNCTION { asm(INSTRUCTION D4 ", " A4B2 ", " D4 SCALES ";" : OUT4(OUT_F) : IN_A4B2, "r"(0x7f7f7f7fu)); }
#else
MMA_FUNCTION { asm(INSTRUCTION D4 ", " A4B2 ", " D4 ";" : OUT4(OUT_F) : IN_A4B2); }
#endif
#elif defined(MMA_INT8_M16N8K32)
typedef int ACC;
#define A_REGISTERS 4
#define B_REGISTERS 2
#define D_REGISTERS 4
#define DEPTH 32
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " D4 ", " A4B2 ", " D4 ";" : OUT4(OUT_R) : IN_A4B2);
}
#elif defined(MMA_INT8_M8N8K16)
typedef int ACC;
#define A_REGISTERS 1
#define B_REGISTERS 1
#define D_REGISTERS 2
#define DEPTH 16
MMA_FUNCTION {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));
}
#elif defined(MMA_FP16_ACC16_M16N8K16) || defined(MMA_FP8_ACC16_M16N8K32)
typedef uint ACC;
#define ACC_IS_HALF
#define A_REGISTERS 4
#define B_REGISTERS 2
#define D_REGISTERS 2
#ifdef MMA_FP16_ACC16_M16N8K16
#define DEPTH 16
#define INSTRUCTION "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
#else
#define DEPTH 32
#define INSTRUCTION "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 "
#endif
MMA_FUNCTION {
    asm(INSTRUCTION "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : IN_A4B2);
}
#elif defined(MMA_FP16_M16N8K8)
typedef float ACC;
#define A_REGISTERS 2
#define B_REGISTERS 1
#define D_REGISTERS 4
#define DEPTH 8
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " D4 ", {%4,%5}, {%6}, " D4 ";"
        : OUT4(OUT_F) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#elif defined(MMA_FP16_ACC16_M16N8K8)
typedef uint ACC;
#define ACC_IS_HALF
#define A_REGISTERS 2
#define B_REGISTERS 1
#define D_REGISTERS 2
#define DEPTH 8
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
        : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#elif defined(MMA_FP16_M8N8K4)
typedef float ACC;
#define A_REGISTERS 2
#define B_REGISTERS 2
#define D_REGISTERS 8
#define DEPTH 4
#define D8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
MMA_FUNCTION {
    asm("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 " D8 ", {%8,%9}, {%10,%11}, " D8 ";"
        : OUT4(OUT_F), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
}
#elif defined(MMA_FP16_ACC16_M8N8K4)
typedef uint ACC;
#define ACC_IS_HALF
#define A_REGISTERS 2
#define B_REGISTERS 2
#define D_REGISTERS 4
#define DEPTH 4
MMA_FUNCTION {
    asm("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 " D4 ", {%4,%5}, {%6,%7}, " D4 ";"
        : OUT4(OUT_R) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]));
}
#elif defined(MMA_FP64_M8N8K4)
typedef double ACC;
#define A_REGISTERS 1
#define B_REGISTERS 1
#define D_REGISTERS 2
#define DEPTH 4
MMA_FUNCTION {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(d[0]), "+d"(d[1]) : "d"(a[0]), "d"(b[0]));
}
#elif defined(MMA_FP64_M16N8K4)
typedef double ACC;
#define A_REGISTERS 2
#define B_REGISTERS 1
#define D_REGISTERS 4
#define DEPTH 4
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " D4 ", {%4,%5}, {%6}, " D4 ";"
        : OUT4(OUT_D) : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}
#elif defined(MMA_FP64_M16N8K16)
typedef double ACC;
#define A_REGISTERS 8
#define B_REGISTERS 4
#define D_REGISTERS 4
#define DEPTH 16
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " D4 ", {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, " D4 ";"
        : OUT4(OUT_D)
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
}
#elif defined(MMA_FP64_M16N8K8)
typedef double ACC;
#define A_REGISTERS 4
#define B_REGISTERS 2
#define D_REGISTERS 4
#define DEPTH 8
MMA_FUNCTION {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " D4 ", " A4B2 ", " D4 ";"
        : OUT4(OUT_D) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#endif

// The row of A whose elements a lane holds, as far as it is odd or even.
#if defined(MMA_FP16_M8N8K4) || defined(MMA_FP16_ACC16_M8N8K4)
#define ROW_OF_LANE lane
#else
#define ROW_OF_LANE (lane / 4u)
#endif

// Chains start at 1, 2, 4, 8, 1, ... so that two of them swapped or lost are seen in the sum.
#ifdef ACC_IS_HALF
__device__ __forceinline__ ACC start_of(uint chain) { return 0x3c003c00u + (chain & 3u) * 0x04000400u; }
__device__ __forceinline__ float value_of(ACC x) {
    float low, high;
    asm("{.reg .b16 l, h;\n mov.b32 {l, h}, %2;\n cvt.f32.f16 %0, l;\n cvt.f32.f16 %1, h;}" : "=f"(low), "=f"(high) : "r"(x));
    return low + high;
}
#else
__device__ __forceinline__ ACC start_of(uint chain) { return (ACC)(1u << (chain & 3u)); }
__device__ __forceinline__ ACC value_of(ACC x) { return x; }
#endif

extern "C" __global__ void __launch_bounds__(THREADS) tensor_mma(double* out, ulong64* times, uint zero, uint rounds) {
    const uint lane = threadIdx.x & 31u;
    OPERAND plus[A_REGISTERS], minus[A_REGISTERS], b[B_REGISTERS];
    UNROLLED for (uint i = 0; i < A_REGISTERS; ++i) plus[i] = varied(lane, i, zero);
    UNROLLED for (uint i = 0; i < A_REGISTERS; ++i) minus[i] = negated(plus[i], 0u);
    UNROLLED for (uint i = 0; i < B_REGISTERS; ++i) b[i] = varied(lane, i + 8, zero);
    ACC d[CHAINS][D_REGISTERS];
    UNROLLED for (uint c = 0; c < CHAINS; ++c) {
        UNROLLED for (uint i = 0; i < D_REGISTERS; ++i) d[c][i] = start_of(c);
    }
    TIMED_BEGIN
    NOT_UNROLLED for (uint r = 0; r < rounds; ++r) {
        UNROLLED for (uint u = 0; u < UNROLL; ++u) {
            UNROLLED for (uint c = 0; c < CHAINS; ++c) mma(d[c], (u & 1u) ? minus : plus, b);
        }
    }
    TIMED_END
    UNROLLED for (uint i = 0; i < A_REGISTERS; ++i) plus[i] = constant_a(ROW_OF_LANE, 0u, zero);
    UNROLLED for (uint i = 0; i < B_REGISTERS; ++i) b[i] = constant_b(0u, zero);
    decltype(value_of(d[0][0])) sum = 0;  // not in FP64, which some GPUs have two lanes of: it would take longer than the loop
    UNROLLED for (uint c = 0; c < CHAINS; ++c) {
        mma(d[c], plus, b);
        UNROLLED for (uint i = 0; i < D_REGISTERS; ++i) sum += value_of(d[c][i]);
    }
    const uint thread = blockIdx.x * THREADS + threadIdx.x;
    out[thread] = (double)sum;
    TIMED_REPORT(times)
}
