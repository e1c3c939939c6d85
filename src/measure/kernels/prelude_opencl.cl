// OpenCL C dialect of the micro-kernels. A work-item of a CPU is one thread of scalar code unless its types are vectors, so
// REAL and VEC are as wide as the device prefers (LANES, VEC_WORDS).
#if defined(TYPE_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(TYPE_FP16)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
typedef ulong ulong64;

#define KERNEL __kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void
#define GLOBAL __global
#define SHARED __local
#define GROUP_ID ((uint)get_group_id(0))
#define GROUPS ((uint)get_num_groups(0))
#define LOCAL_ID ((uint)get_local_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define UNROLLED _Pragma("unroll")
#define NOT_UNROLLED _Pragma("unroll 1")

// OpenCL has no counter that a kernel can read; zeros say so.
#define TIMED_BEGIN
#define TIMED_END
#define TIMED_REPORT(times) \
    if (LOCAL_ID == 0) times[3 * GROUP_ID] = times[3 * GROUP_ID + 1] = times[3 * GROUP_ID + 2] = 0UL;

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define AS_(type, x) JOIN(as_, type)(x)

#define VEC JOIN(uint, VEC_WORDS)
#if VEC_WORDS == 4
#define VEC_COUNT (uint4)(0, 1, 2, 3)
#define vec_sum(v) ((v).x + (v).y + (v).z + (v).w)
#elif VEC_WORDS == 8
#define VEC_COUNT (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
inline uint vec_sum(uint8 v) { const uint4 h = v.lo + v.hi; return h.x + h.y + h.z + h.w; }
#else
#define VEC_COUNT (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
inline uint vec_sum(uint16 v) { const uint8 g = v.lo + v.hi; const uint4 h = g.lo + g.hi; return h.x + h.y + h.z + h.w; }
#endif
#define vec_of(x) ((VEC)(x))
#define vec_ramp(x, step) ((VEC)(x) + VEC_COUNT * (uint)(step))
#define vec_add(a, b) ((a) + (b))
#if defined(TYPE_FP64)
#if VEC_WORDS == 4
#define VEC_NUMBER double2
#elif VEC_WORDS == 8
#define VEC_NUMBER double4
#else
#define VEC_NUMBER double8
#endif
#else
#define VEC_NUMBER JOIN(float, VEC_WORDS)
#endif
#define vec_triad(b, c, s) AS_(VEC, AS_(VEC_NUMBER, b) + (s) * AS_(VEC_NUMBER, c))
// Volatile, so that the same address is really read again.
#define load_vec(p) (*(volatile const __global VEC*)(p))
#define store_vec(p, v) (*(volatile __global VEC*)(p) = (v))
#define load_shared(p) (*(volatile const __local VEC*)(p))
// A link is the place of the next one, in words.
#define LINK uint
#define link_of(ring, place) (place)
#define place_of(ring, link) (link)
#define next_link(ring, link) (*(volatile const __global uint*)((ring) + (link)))
#define shared_link_of(set, place) (place)
#define shared_place_of(set, link) (link)
#define next_shared_link(set, link) (*(volatile const __local uint*)((set) + (link)))

#if defined(TYPE_FP64)
#define SCALAR double
#elif defined(TYPE_FP32)
#define SCALAR float
#elif defined(TYPE_FP16)
#define SCALAR float
#define ELEMENT half
#elif defined(TYPE_INT32)
#define SCALAR uint
#endif
#ifdef SCALAR
#ifndef ELEMENT
#define ELEMENT SCALAR
#endif
#if LANES == 1
#define REAL ELEMENT
#define LANE_COUNT 0
#else
#define REAL JOIN(ELEMENT, LANES)
#if LANES == 2
#define LANE_COUNT (REAL)(0, 1)
#elif LANES == 4
#define LANE_COUNT (REAL)(0, 1, 2, 3)
#elif LANES == 8
#define LANE_COUNT (REAL)(0, 1, 2, 3, 0, 1, 2, 3)
#else
#define LANE_COUNT (REAL)(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#endif
#endif
#define real_of(x, step) ((REAL)((ELEMENT)(x)) + LANE_COUNT * (ELEMENT)(step))
#ifdef TYPE_INT32
#define fma_of(x, a, b) ((x) * (a) + (b))
#else
#define fma_of(x, a, b) fma(x, a, b)
#endif
#define add_of(x, b) ((x) + (b))
#define mul_of(x, a) ((x) * (a))
#endif
