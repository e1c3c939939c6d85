// CUDA C++ dialect of the micro-kernels. No header is included: NVRTC finds none on a machine without a toolkit, so the
// packed 16-bit types are registers and their instructions are PTX.
typedef unsigned int uint;
typedef unsigned long long ulong64;

#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)
#define GLOBAL
#define SHARED __shared__
#define GROUP_ID blockIdx.x
#define GROUPS gridDim.x
#define LOCAL_ID threadIdx.x
#define BARRIER() __syncthreads()
#define UNROLLED _Pragma("unroll")
#define NOT_UNROLLED _Pragma("unroll 1")

// Cycles of the SM and nanoseconds of the device, read by the same thread: their quotient is the clock that it ran at.
__device__ __forceinline__ ulong64 cycle_count() {
    ulong64 now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}
__device__ __forceinline__ ulong64 nanosecond_count() {
    ulong64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}
__device__ __forceinline__ uint sm_number() {
    uint number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}
#define TIMED_BEGIN const ulong64 begin_time = nanosecond_count(), begin_cycles = cycle_count();
#define TIMED_END const ulong64 end_cycles = cycle_count(), end_time = nanosecond_count();
// Three words for each group: its cycles, its nanoseconds and the SM that it ran on.
#define TIMED_REPORT(times)                                         \
    if (threadIdx.x == 0) {                                          \
        times[3 * blockIdx.x] = end_cycles - begin_cycles;           \
        times[3 * blockIdx.x + 1] = end_time - begin_time;           \
        times[3 * blockIdx.x + 2] = sm_number();                     \
    }

// Memory moves in the widest words that a thread can ask for: 256 bits from sm_100 on (VEC_WORDS 8), 128 before.
#if VEC_WORDS == 8
struct __align__(32) VEC {
    uint4 low, high;
};
__device__ __forceinline__ VEC vec_pair(uint4 low, uint4 high) {
    VEC v;
    v.low = low;
    v.high = high;
    return v;
}
#define HALF_NAME(name) half_##name
#else
typedef uint4 VEC;
#define HALF_NAME(name) name
#endif
__device__ __forceinline__ uint4 HALF_NAME(vec_of)(uint x) { return make_uint4(x, x, x, x); }
__device__ __forceinline__ uint4 HALF_NAME(vec_ramp)(uint x, uint step) { return make_uint4(x, x + step, x + 2 * step, x + 3 * step); }
__device__ __forceinline__ uint4 HALF_NAME(vec_add)(uint4 a, uint4 b) { return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __forceinline__ uint HALF_NAME(vec_sum)(uint4 a) { return a.x + a.y + a.z + a.w; }
#if VEC_WORDS == 8
__device__ __forceinline__ VEC vec_of(uint x) { return vec_pair(half_vec_of(x), half_vec_of(x)); }
__device__ __forceinline__ VEC vec_ramp(uint x, uint step) {
    return vec_pair(half_vec_ramp(x, step), half_vec_ramp(x + 4 * step, step));
}
__device__ __forceinline__ VEC vec_add(VEC a, VEC b) {
    return vec_pair(half_vec_add(a.low, b.low), half_vec_add(a.high, b.high));
}
__device__ __forceinline__ uint vec_sum(VEC a) { return half_vec_sum(a.low) + half_vec_sum(a.high); }
#endif
// Volatile, so that the same address is really read again. CACHE_NEAR: through all levels. Else L2 and outwards, so that a
// set that would fit into the L1s together is still read from L2. From sm_70 on a load without a word caches at all levels,
// and with the word "ca" it becomes a strong load of the SM; before, some GPUs need the word.
#ifndef CACHE_NEAR
#define LOAD_CACHE ".cg"
#elif __CUDA_ARCH__ >= 700
#define LOAD_CACHE ""
#else
#define LOAD_CACHE ".ca"
#endif
#if VEC_WORDS == 8
__device__ __forceinline__ VEC load_vec(const VEC* p) {
    VEC v;
    asm volatile("ld.global" LOAD_CACHE ".v8.u32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"
                 : "=r"(v.low.x), "=r"(v.low.y), "=r"(v.low.z), "=r"(v.low.w), "=r"(v.high.x), "=r"(v.high.y),
                   "=r"(v.high.z), "=r"(v.high.w) : "l"(p));
    return v;
}
__device__ __forceinline__ void store_vec(VEC* p, VEC v) {
    asm volatile("st.global.v8.u32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8};" ::"l"(p), "r"(v.low.x), "r"(v.low.y), "r"(v.low.z),
                 "r"(v.low.w), "r"(v.high.x), "r"(v.high.y), "r"(v.high.z), "r"(v.high.w) : "memory");
}
#else
__device__ __forceinline__ VEC load_vec(const VEC* p) {
    VEC v;
    asm volatile("ld.global" LOAD_CACHE ".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
__device__ __forceinline__ void store_vec(VEC* p, VEC v) {
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
#endif
// Volatile for the assembler too: it knows that nobody writes this memory, and would load once before the loop.
__device__ __forceinline__ uint4 load_shared(const uint4* p) {
    uint4 v;
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"((uint)__cvta_generic_to_shared(p)));
    return v;
}
// A link is the address of the next one: the load takes it as it is.
typedef ulong64 LINK;
__device__ __forceinline__ LINK link_of(const uint* ring, uint place) { return (LINK)(ring + place); }
__device__ __forceinline__ uint place_of(const uint* ring, LINK link) { return (uint)((const uint*)link - ring); }
__device__ __forceinline__ LINK next_link(const uint*, LINK link) {
    LINK next;
    asm volatile("ld.global" LOAD_CACHE ".u64 %0, [%1];" : "=l"(next) : "l"(link));
    return next;
}
__device__ __forceinline__ uint shared_link_of(const uint* set, uint place) { return (uint)__cvta_generic_to_shared(set + place); }
__device__ __forceinline__ uint shared_place_of(const uint* set, uint link) { return (link - (uint)__cvta_generic_to_shared(set)) / 4; }
__device__ __forceinline__ uint next_shared_link(const uint*, uint link) {
    uint next;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(next) : "r"(link));
    return next;
}

// Arithmetic types. REAL is what a register holds, LANES how many numbers it packs, SCALAR what the host passes.
#if defined(TYPE_FP64)
typedef double REAL;
typedef double SCALAR;
#define LANES 1
__device__ __forceinline__ REAL real_of(SCALAR x, SCALAR) { return x; }
__device__ __forceinline__ REAL fma_of(REAL x, REAL a, REAL b) { return __fma_rn(x, a, b); }
__device__ __forceinline__ REAL add_of(REAL x, REAL b) { return __dadd_rn(x, b); }
__device__ __forceinline__ REAL mul_of(REAL x, REAL a) { return __dmul_rn(x, a); }
#elif defined(TYPE_FP32)
typedef float REAL;
typedef float SCALAR;
#define LANES 1
__device__ __forceinline__ REAL real_of(SCALAR x, SCALAR) { return x; }
__device__ __forceinline__ REAL fma_of(REAL x, REAL a, REAL b) { return __fmaf_rn(x, a, b); }
__device__ __forceinline__ REAL add_of(REAL x, REAL b) { return __fadd_rn(x, b); }
__device__ __forceinline__ REAL mul_of(REAL x, REAL a) { return __fmul_rn(x, a); }
#elif defined(TYPE_INT32)
typedef uint REAL;
typedef uint SCALAR;
#define LANES 1
__device__ __forceinline__ REAL real_of(SCALAR x, SCALAR) { return x; }
// As PTX: whole numbers obey algebra, which the compiler knows; NVRTC 13.0 for sm_110 rearranged the chain for over a minute.
__device__ __forceinline__ REAL fma_of(REAL x, REAL a, REAL b) {
    asm("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    return x;
}
__device__ __forceinline__ REAL add_of(REAL x, REAL b) { return x + b; }
#elif defined(TYPE_FP16) || defined(TYPE_BF16)
typedef uint REAL;
typedef float SCALAR;
#define LANES 2
#ifdef TYPE_FP16
#define PACKED "f16x2"
__device__ __forceinline__ REAL real_of(SCALAR x, SCALAR step) {
    REAL r;
    asm("{.reg .b16 lo, hi;\n cvt.rn.f16.f32 lo, %1;\n cvt.rn.f16.f32 hi, %2;\n mov.b32 %0, {lo, hi};}"
        : "=r"(r) : "f"(x), "f"(x + step));
    return r;
}
#else
#define PACKED "bf16x2"
__device__ __forceinline__ REAL real_of(SCALAR x, SCALAR step) {
    // The numbers that the host passes have their low halves zero, so this is exact.
    return (__float_as_uint(x + step) & 0xffff0000u) | (__float_as_uint(x) >> 16);
}
#endif
__device__ __forceinline__ REAL fma_of(REAL x, REAL a, REAL b) {
    asm("fma.rn." PACKED " %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    return x;
}
// Only for the sum after the loop, exact enough there: the assembler makes FMAs of many of these.
#ifdef TYPE_FP16
__device__ __forceinline__ REAL add_of(REAL x, REAL b) {
    asm("add.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(b));
    return x;
}
#else
__device__ __forceinline__ REAL add_of(REAL x, REAL b) { return fma_of(x, 0x3f803f80u, b); }
#endif
#endif

#if defined(TYPE_FP64)
__device__ __forceinline__ uint4 HALF_NAME(vec_triad)(uint4 b, uint4 c, double s) {
    const double low = __fma_rn(s, __hiloint2double(c.y, c.x), __hiloint2double(b.y, b.x));
    const double high = __fma_rn(s, __hiloint2double(c.w, c.z), __hiloint2double(b.w, b.z));
    return make_uint4(__double2loint(low), __double2hiint(low), __double2loint(high), __double2hiint(high));
}
#elif defined(TYPE_FP32)
__device__ __forceinline__ uint triad_word(uint b, uint c, float s) {
    return __float_as_uint(__fmaf_rn(s, __uint_as_float(c), __uint_as_float(b)));
}
__device__ __forceinline__ uint4 HALF_NAME(vec_triad)(uint4 b, uint4 c, float s) {
    return make_uint4(triad_word(b.x, c.x, s), triad_word(b.y, c.y, s), triad_word(b.z, c.z, s), triad_word(b.w, c.w, s));
}
#endif
#if VEC_WORDS == 8 && (defined(TYPE_FP64) || defined(TYPE_FP32))
__device__ __forceinline__ VEC vec_triad(VEC b, VEC c, SCALAR s) {
    return vec_pair(half_vec_triad(b.low, c.low, s), half_vec_triad(b.high, c.high, s));
}
#endif
