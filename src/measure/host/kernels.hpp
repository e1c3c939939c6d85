// The loops that the host device times, one set for each instruction set, from one source (Highway). Every loop returns
// what proves that it did its work. Knows no thread and no clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gambrel::measure_detail {

struct HostKernels {
    const char* target = "";  // "AVX2"
    std::size_t vector_bytes = 0;
    bool fused = false;  // multiply-add is one instruction

    // `passes` sums of n 64-bit words, modulo 2^64. Integer adds are exact whatever their order.
    std::uint64_t (*load)(const std::uint64_t* words, std::size_t n, std::int64_t passes) = nullptr;
    // Non-temporal where `stream`: a store that misses then costs no read.
    void (*store)(std::uint64_t* words, std::size_t n, std::int64_t passes, std::uint64_t value, bool stream) = nullptr;
    void (*copy)(std::uint64_t* to, const std::uint64_t* from, std::size_t n, std::int64_t passes,
                 bool stream) = nullptr;
    void (*triad)(double* a, const double* b, const double* c, double factor, std::size_t n, std::int64_t passes,
                  bool stream) = nullptr;  // a = b + factor * c

    // Loops of independent chains x = x * 1 + 1, x = x + 1, x = x * -1. The sum of all chains counts the operations of
    // the first two exactly; multiplications leave what they began with. `operations` per trip, FMA as one.
    struct Arithmetic {
        double (*fma)(std::int64_t trips) = nullptr;
        double (*add)(std::int64_t trips) = nullptr;
        double (*multiply)(std::int64_t trips) = nullptr;
        std::int64_t operations = 0;  // of one trip, all lanes; the sum that proves it, for fma and add
        double multiply_sum = 0;      // what multiplications leave
    };
    Arithmetic fp64, fp32;
};

const HostKernels& host_kernels();  // the best set for this CPU

}  // namespace gambrel::measure_detail
