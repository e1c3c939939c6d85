// A cuBLASLt that multiplies slowly and is strict about what NVIDIA's documentation of cublasLtMatmul asks for: types,
// FP8 and INT8 with A transposed and B not, sizes and addresses of 16 bytes. FAKE_LT_OLD makes it one that does not
// know FP8.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "measure/cuda/cublaslt.hpp"
#include "measure/fakes/fake.hpp"

namespace {

constexpr int kFp32 = 0, kFp64 = 1, kFp16 = 2, kInt8 = 3, kInt32 = 10, kBf16 = 14, kFp8 = 28;
constexpr int kCompute32 = 68, kCompute64 = 70, kComputeInt = 72, kComputeTf32 = 77;
constexpr int kInvalidValue = 7, kNotSupported = 15;

struct Descriptor {
    int compute, scale, transpose_a = 0;
    bool fast = false;
};
struct Layout {
    int type;
    std::uint64_t rows, columns;
    std::int64_t lead;
};

int size_of(int type) {
    return type == kFp64 ? 8 : type == kFp32 || type == kInt32 ? 4 : type == kFp16 || type == kBf16 ? 2 : 1;
}

double small_float(unsigned bits, int mantissa, int bias) {
    return std::ldexp(1 + (bits & ((1U << mantissa) - 1U)) * std::pow(2.0, -mantissa),
                      static_cast<int>(bits >> static_cast<unsigned>(mantissa)) - bias);
}
double element(const void* matrix, int type, std::uint64_t index) {
    const auto* at = static_cast<const unsigned char*>(matrix) + index * static_cast<unsigned>(size_of(type));
    double wide = 0;
    float single = 0;
    std::uint16_t half = 0;
    switch (type) {
        case kFp64:
            return std::memcpy(&wide, at, 8), wide;
        case kFp32:
            return std::memcpy(&single, at, 4), single;
        case kFp16:
            return std::memcpy(&half, at, 2), small_float(half, 10, 15);
        case kBf16:
            return std::memcpy(&half, at, 2), small_float(half, 7, 127);
        case kInt8:
            return static_cast<signed char>(*at);
        default:
            return small_float(*at, 3, 7);
    }
}

bool supported(const Descriptor& d, const Layout& in, const Layout& out) {
    const bool even = in.rows % 16 == 0 && in.columns % 16 == 0 && in.lead * size_of(in.type) % 16 == 0;
    switch (in.type) {
        case kFp64:
            return d.compute == kCompute64 && d.scale == kFp64 && out.type == kFp64;
        case kFp32:
            return (d.compute == kCompute32 || d.compute == kComputeTf32) && d.scale == kFp32 && out.type == kFp32;
        case kInt8:
            return d.compute == kComputeInt && d.scale == kInt32 && out.type == kInt32 && d.transpose_a == 1 && even;
        case kFp8:
            return d.compute == kCompute32 && d.scale == kFp32 && d.transpose_a == 1 && even &&
                   (out.type == kFp32 || out.type == kFp16 || out.type == kBf16);
        default:
            return d.compute == kCompute32 && d.scale == kFp32;
    }
}

double number(const void* at, int type) {
    std::int32_t whole = 0;
    return type == kInt32 ? (std::memcpy(&whole, at, 4), whole) : element(at, type, 0);
}
void put(void* matrix, int type, std::uint64_t index, double value) {
    if (type == kFp64) static_cast<double*>(matrix)[index] = value;
    if (type == kFp32) static_cast<float*>(matrix)[index] = static_cast<float>(value);
    if (type == kInt32) static_cast<std::int32_t*>(matrix)[index] = static_cast<std::int32_t>(value);
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) {
    CALLED(cublasLtCreate);
    return *handle = handle, 0;
}
int cublasLtDestroy(void*) {
    CALLED(cublasLtDestroy);
    return 0;
}
int cublasLtMatmulDescCreate(Descriptor** d, int compute, int scale) {
    CALLED(cublasLtMatmulDescCreate);
    return *d = new Descriptor{compute, scale}, 0;
}
int cublasLtMatmulDescSetAttribute(Descriptor* d, int what, const void* value, std::size_t size) {
    CALLED(cublasLtMatmulDescSetAttribute);
    if (what == 25 && size == 1) return called("fast accumulation"), d->fast = *static_cast<const char*>(value) != 0, 0;
    if (what != 3 || size != sizeof(int)) return kInvalidValue;
    return std::memcpy(&d->transpose_a, value, size), 0;
}
int cublasLtMatmulDescDestroy(Descriptor* d) {
    CALLED(cublasLtMatmulDescDestroy);
    delete d;
    return 0;
}
int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t lead) {
    if (type == kFp8 && !variable("FAKE_LT_OLD", "").empty()) return kInvalidValue;
    CALLED(cublasLtMatrixLayoutCreate);
    return *layout = new Layout{type, rows, columns, lead}, 0;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
    CALLED(cublasLtMatrixLayoutDestroy);
    delete layout;
    return 0;
}
int cublasLtMatmulPreferenceCreate(void** p) {
    CALLED(cublasLtMatmulPreferenceCreate);
    return *p = p, 0;
}
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, std::size_t) {
    CALLED(cublasLtMatmulPreferenceSetAttribute);
    return 0;
}
int cublasLtMatmulPreferenceDestroy(void*) {
    CALLED(cublasLtMatmulPreferenceDestroy);
    return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void*, Descriptor* d, Layout* a, Layout*, Layout*, Layout* out, void*, int wanted,
                                   gambrel::measure_detail::LtHeuristic* results, int* found) {
    CALLED(cublasLtMatmulAlgoGetHeuristic);
    const int offered = std::min(wanted, std::atoi(variable("FAKE_LT_ALGORITHMS", "1").c_str()));
    *found = supported(*d, *a, *out) ? offered : 0;
    for (int i = 0; i < *found; ++i) results[i] = {{{static_cast<std::uint64_t>(i)}}, 0, 0, 1, {}};
    return *found > 0 ? 0 : kNotSupported;
}
int cublasLtMatmul(void*, Descriptor* d, const void* alpha, const void* a, Layout* in, const void* b, Layout*,
                   const void* beta, const void*, Layout*, void* out, Layout* of,
                   const gambrel::measure_detail::LtAlgorithm* algorithm, void*, std::size_t, void*) {
    CALLED(cublasLtMatmul);
    called(("algorithm " + std::to_string(algorithm->data[0])).c_str());
    event_milliseconds = algorithm->data[0] == 2 ? 0.5F : 1;  // the third that is offered is the fastest
    const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    if (!supported(*d, *in, *of) || !aligned(a) || !aligned(b) || !aligned(out)) return kNotSupported;
    if (number(beta, d->scale) != 0) return kInvalidValue;
    called(("product of type " + std::to_string(in->type) + " to " + std::to_string(of->type)).c_str());
    const std::uint64_t n = in->rows;
    const bool broken = variable("FAKE_BROKEN", "") == "cublasLtMatmul";
    for (std::uint64_t j = 0; j < n; ++j)
        for (std::uint64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::uint64_t k = 0; k < n; ++k)
                sum += element(a, in->type, i * n + k) * element(b, in->type, j * n + k);
            // Fast sums have lost one part in a hundred, ordinary ones nothing.
            put(out, of->type, j * n + i, broken ? 0 : number(alpha, d->scale) * sum * (d->fast ? 0.99 : 1));
        }
    return 0;
}

}  // extern "C"
