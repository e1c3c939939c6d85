// Compiled once for each instruction set: hwy/foreach_target.h includes this file again with other target flags.
#include "measure/host/kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/host/kernels.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/cache_control.h>
#include <hwy/highway.h>

// Named variables, not an array: vectors of SVE have no size that an array could have.
#if HWY_ARCH_X86 && HWY_TARGET >= HWY_AVX2
// Two pipes with a latency of four or five need ten chains; two of sixteen registers hold the constants.
#define GAMBREL_CHAINS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define GAMBREL_CHAIN_COUNT 12
#else
// Four pipes with a latency of four (Neoverse V, Apple) need sixteen, of thirty-two registers.
#define GAMBREL_CHAINS(DO) \
    DO(0)                  \
    DO(1)                  \
    DO(2)                  \
    DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19)
#define GAMBREL_CHAIN_COUNT 20
#endif
// Every chain starts elsewhere, and the compiler does not know where: of equal chains it would keep one.
#define GAMBREL_DECLARE(i) auto x##i = hn::Set(d, opaque<T>(static_cast<T>(kStart + i)));
#define GAMBREL_FMA(i) x##i = hn::MulAdd(x##i, factor, addend);
#define GAMBREL_ADD(i) x##i = hn::Add(x##i, addend);
#define GAMBREL_MULTIPLY(i) x##i = hn::Mul(x##i, factor);
#define GAMBREL_COLLECT(i) total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, x##i)));

HWY_BEFORE_NAMESPACE();
namespace gambrel::measure_detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The compiler must not see that memory is the same in the next pass, nor what an opaque number is.
HWY_INLINE void fence() { asm volatile("" : : : "memory"); }
template <class T>
HWY_INLINE T opaque(T value) {
    volatile T hidden = value;
    return hidden;
}

constexpr std::int64_t kUnroll = 4;
// FP32 counts exactly to 2^24: the chains are emptied long before.
constexpr std::int64_t kTripsBetweenCounts = std::int64_t{1} << 18;

// What the chains hold before they begin: 0, 1, 2, ...; one more for multiplications, so that none is zero.
constexpr double kStarts = GAMBREL_CHAIN_COUNT * (GAMBREL_CHAIN_COUNT - 1) / 2.0;

// One loop body for each action; `OPERATION` is applied to every chain kUnroll times in a trip.
#define GAMBREL_ARITHMETIC(NAME, OPERATION, START, FACTOR)                         \
    template <class T>                                                             \
    double NAME(std::int64_t trips) {                                              \
        const hn::ScalableTag<T> d;                                                \
        constexpr int kStart = START;                                              \
        [[maybe_unused]] const auto factor = hn::Set(d, opaque<T>(FACTOR));        \
        [[maybe_unused]] const auto addend = hn::Set(d, opaque<T>(1));             \
        double total = 0;                                                          \
        while (trips > 0) {                                                        \
            const std::int64_t now = std::min(trips, kTripsBetweenCounts);         \
            GAMBREL_CHAINS(GAMBREL_DECLARE)                                        \
            for (std::int64_t t = 0; t < now; ++t) {                               \
                GAMBREL_CHAINS(OPERATION)                                          \
                GAMBREL_CHAINS(OPERATION)                                          \
                GAMBREL_CHAINS(OPERATION)                                          \
                GAMBREL_CHAINS(OPERATION)                                          \
            }                                                                      \
            if (kStart != 0) total = 0;                                            \
            GAMBREL_CHAINS(GAMBREL_COLLECT)                                        \
            if (kStart == 0) total -= kStarts * static_cast<double>(hn::Lanes(d)); \
            trips -= now;                                                          \
        }                                                                          \
        return total;                                                              \
    }
GAMBREL_ARITHMETIC(fma_chains, GAMBREL_FMA, 0, 1)
GAMBREL_ARITHMETIC(add_chains, GAMBREL_ADD, 0, 1)
GAMBREL_ARITHMETIC(multiply_chains, GAMBREL_MULTIPLY, 1, -1)
#undef GAMBREL_ARITHMETIC

// Four streams at once, of quarters that lie one after the other: a prefetcher follows each of them, and one alone
// keeps too few misses under way to fill a memory channel. In caches it makes no difference.
std::uint64_t load_words(const std::uint64_t* HWY_RESTRICT words, std::size_t n, std::int64_t passes) {
    const hn::ScalableTag<std::uint64_t> d;
    const std::size_t lanes = hn::Lanes(d), block = 4 * lanes;
    const std::size_t quarter = n / 4 / block * block;
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        const std::uint64_t* HWY_RESTRICT p = words;
        for (const std::uint64_t* const end = words + quarter; p != end; p += block) {
            const std::uint64_t *const q = p + quarter, *const r = q + quarter, *const t = r + quarter;
            s0 = hn::Add(s0, hn::Load(d, p)), s1 = hn::Add(s1, hn::Load(d, p + lanes));
            s2 = hn::Add(s2, hn::Load(d, p + 2 * lanes)), s3 = hn::Add(s3, hn::Load(d, p + 3 * lanes));
            s0 = hn::Add(s0, hn::Load(d, q)), s1 = hn::Add(s1, hn::Load(d, q + lanes));
            s2 = hn::Add(s2, hn::Load(d, q + 2 * lanes)), s3 = hn::Add(s3, hn::Load(d, q + 3 * lanes));
            s0 = hn::Add(s0, hn::Load(d, r)), s1 = hn::Add(s1, hn::Load(d, r + lanes));
            s2 = hn::Add(s2, hn::Load(d, r + 2 * lanes)), s3 = hn::Add(s3, hn::Load(d, r + 3 * lanes));
            s0 = hn::Add(s0, hn::Load(d, t)), s1 = hn::Add(s1, hn::Load(d, t + lanes));
            s2 = hn::Add(s2, hn::Load(d, t + 2 * lanes)), s3 = hn::Add(s3, hn::Load(d, t + 3 * lanes));
        }
        for (std::size_t i = 4 * quarter; i + lanes <= n; i += lanes) s0 = hn::Add(s0, hn::Load(d, words + i));
        fence();
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

template <bool kStream, class D, class V>
HWY_INLINE void put(D d, V v, hn::TFromD<D>* HWY_RESTRICT to) {
    if constexpr (kStream)
        hn::Stream(v, d, to);
    else
        hn::Store(v, d, to);
}

template <bool kStream>
void store_loop(std::uint64_t* HWY_RESTRICT words, std::size_t n, std::int64_t passes, std::uint64_t value) {
    const hn::ScalableTag<std::uint64_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto v = hn::Set(d, value);
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        for (std::size_t i = 0; i + 4 * lanes <= n; i += 4 * lanes) {
            put<kStream>(d, v, words + i), put<kStream>(d, v, words + i + lanes);
            put<kStream>(d, v, words + i + 2 * lanes), put<kStream>(d, v, words + i + 3 * lanes);
        }
        fence();
    }
}

template <bool kStream>
void copy_loop(std::uint64_t* HWY_RESTRICT to, const std::uint64_t* HWY_RESTRICT from, std::size_t n,
               std::int64_t passes) {
    const hn::ScalableTag<std::uint64_t> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        for (std::size_t i = 0; i + 4 * lanes <= n; i += 4 * lanes) {
            const auto a = hn::Load(d, from + i), b = hn::Load(d, from + i + lanes);
            const auto e = hn::Load(d, from + i + 2 * lanes), f = hn::Load(d, from + i + 3 * lanes);
            put<kStream>(d, a, to + i), put<kStream>(d, b, to + i + lanes);
            put<kStream>(d, e, to + i + 2 * lanes), put<kStream>(d, f, to + i + 3 * lanes);
        }
        fence();
    }
}

template <bool kStream>
void triad_loop(double* HWY_RESTRICT a, const double* HWY_RESTRICT b, const double* HWY_RESTRICT c, double factor,
                std::size_t n, std::int64_t passes) {
    const hn::ScalableTag<double> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto s = hn::Set(d, factor);
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        for (std::size_t i = 0; i + 2 * lanes <= n; i += 2 * lanes) {
            put<kStream>(d, hn::MulAdd(hn::Load(d, c + i), s, hn::Load(d, b + i)), a + i);
            put<kStream>(d, hn::MulAdd(hn::Load(d, c + i + lanes), s, hn::Load(d, b + i + lanes)), a + i + lanes);
        }
        fence();
    }
}

void store_words(std::uint64_t* words, std::size_t n, std::int64_t passes, std::uint64_t value, bool stream) {
    stream ? store_loop<true>(words, n, passes, value) : store_loop<false>(words, n, passes, value);
    if (stream) hwy::FlushStream();
}
void copy_words(std::uint64_t* to, const std::uint64_t* from, std::size_t n, std::int64_t passes, bool stream) {
    stream ? copy_loop<true>(to, from, n, passes) : copy_loop<false>(to, from, n, passes);
    if (stream) hwy::FlushStream();
}
void triad_numbers(double* a, const double* b, const double* c, double factor, std::size_t n, std::int64_t passes,
                   bool stream) {
    stream ? triad_loop<true>(a, b, c, factor, n, passes) : triad_loop<false>(a, b, c, factor, n, passes);
    if (stream) hwy::FlushStream();
}

template <class T>
HostKernels::Arithmetic arithmetic() {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
    return {fma_chains<T>, add_chains<T>, multiply_chains<T>, lanes * GAMBREL_CHAIN_COUNT * kUnroll,
            static_cast<double>(lanes) * (kStarts + GAMBREL_CHAIN_COUNT)};
}

}  // namespace

HostKernels kernels() {
    HostKernels k;
    k.target = hwy::TargetName(HWY_TARGET);
    k.vector_bytes = hn::Lanes(hn::ScalableTag<std::uint8_t>());
    k.fused = HWY_NATIVE_FMA != 0;
    k.load = load_words;
    k.store = store_words;
    k.copy = copy_words;
    k.triad = triad_numbers;
#if HWY_HAVE_FLOAT64
    k.fp64 = arithmetic<double>();
#endif
    k.fp32 = arithmetic<float>();
    return k;
}

}  // namespace HWY_NAMESPACE
}  // namespace gambrel::measure_detail
HWY_AFTER_NAMESPACE();

#undef GAMBREL_CHAINS
#undef GAMBREL_CHAIN_COUNT
#undef GAMBREL_DECLARE
#undef GAMBREL_FMA
#undef GAMBREL_ADD
#undef GAMBREL_MULTIPLY
#undef GAMBREL_COLLECT

#if HWY_ONCE
namespace gambrel::measure_detail {

namespace {

#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
// Highway's own choice is in its library, which measures the clock while it is loaded: two thirds of the time that a
// short command takes. This one asks for what hwy/ops/set_macros-inl.h compiles each set for, and for no set that
// Highway may add later.
HostKernels best_kernels() {
    __builtin_cpu_init();
    const auto has = [](auto... supported) { return (... && (supported != 0)); };
    const bool ssse3 = has(__builtin_cpu_supports("ssse3"));
    const bool sse4 = ssse3 && has(__builtin_cpu_supports("sse4.1"), __builtin_cpu_supports("sse4.2"),
                                   __builtin_cpu_supports("pclmul"), __builtin_cpu_supports("aes"));
    const bool avx2 =
        sse4 && has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"),
                    __builtin_cpu_supports("fma"), __builtin_cpu_supports("f16c"));
    const bool avx3 = avx2 && has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
                                  __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512bw"));
    const bool avx3_dl = avx3 && has(__builtin_cpu_supports("vpclmulqdq"), __builtin_cpu_supports("avx512vbmi"),
                                     __builtin_cpu_supports("avx512vbmi2"), __builtin_cpu_supports("vaes"),
                                     __builtin_cpu_supports("avx512vnni"), __builtin_cpu_supports("avx512bitalg"),
                                     __builtin_cpu_supports("avx512vpopcntdq"));
    struct Set {
        bool supported;
        HostKernels (*make)();  // null: not compiled
    };
    for (const Set& set : {Set{avx3_dl, HWY_CHOOSE_AVX3_DL(kernels)}, Set{avx3, HWY_CHOOSE_AVX3(kernels)},
                           Set{avx2, HWY_CHOOSE_AVX2(kernels)}, Set{sse4, HWY_CHOOSE_SSE4(kernels)},
                           Set{ssse3, HWY_CHOOSE_SSSE3(kernels)}})
        if (set.supported && set.make != nullptr) return set.make();
    return HWY_STATIC_DISPATCH(kernels)();
}
#else
HWY_EXPORT(kernels);
HostKernels best_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }
#endif

}  // namespace

const HostKernels& host_kernels() {
    static const HostKernels best = best_kernels();
    return best;
}

}  // namespace gambrel::measure_detail
#endif
