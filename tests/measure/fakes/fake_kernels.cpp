#include "measure/fakes/fake_kernels.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "measure/fakes/fake.hpp"

namespace {

template <class T>
T argument(void** arguments, int index) {
    T value;
    std::memcpy(&value, arguments[index], sizeof value);
    return value;
}
template <class T>
T* pointer(void** arguments, int index) {
    return reinterpret_cast<T*>(argument<unsigned long long>(arguments, index));
}

// What TIMED_REPORT leaves: a million cycles, no timer, and the group's number for its SM.
void report_times(void** with, int index, unsigned groups) {
    for (unsigned g = 0; g < groups; ++g) {
        auto* const words = pointer<unsigned long long>(with, index) + 3 * g;
        words[0] = 1'000'000, words[1] = 0, words[2] = g;
    }
}

template <class T>
void run_arithmetic(const Function& f, unsigned groups, unsigned threads, void** with) {
    T* out = pointer<T>(with, 0);
    const T a = argument<T>(with, 2), b = argument<T>(with, 3), lane = argument<T>(with, 4),
            chain = argument<T>(with, 5);
    const auto steps = argument<unsigned>(with, 6) * f.define("UNROLL", 1);
    const long long chains = f.define("CHAINS", 1);
    const bool fma = f.defined("STEP_FMA"), add = f.defined("STEP_ADD");
    std::vector<T> sums(4);  // threads differ by their number modulo 4
    for (unsigned lane_number = 0; lane_number < 4; ++lane_number) {
        T& sum = sums[lane_number];
        for (long long c = 0; c < chains; ++c) {
            T x = T(1) + T(lane_number) * lane + T(c) * chain;
            for (long long s = 0; s < steps; ++s) {
                if (fma)
                    x = std::fma(x, a, b);
                else if (add)
                    x = x + b;
                else
                    x = x * ((s & 1) != 0 ? b : a);
            }
            sum = c == 0 ? x : sum + x;
        }
    }
    for (unsigned t = 0; t < groups * threads; ++t) out[t] = sums[t & 3U];
    report_times(with, 1, groups);
}

struct Steps {
    unsigned group_step, step, steps, skew, rounds;
    Steps(void** with, int first)
        : group_step(argument<unsigned>(with, first)),
          step(argument<unsigned>(with, first + 1)),
          steps(argument<unsigned>(with, first + 2)),
          skew(argument<unsigned>(with, first + 3)),
          rounds(argument<unsigned>(with, first + 4)) {}
};
// Calls visit(word index of a VEC) in the order of the kernel; returns the sum of what it returns by thread.
template <class Visit>
void walk(const Function& f, unsigned groups, unsigned threads, const Steps& s, std::uint32_t* out, Visit visit) {
    const auto unroll = static_cast<unsigned>(f.define("UNROLL", 1));
    for (unsigned g = 0; g < groups; ++g)
        for (unsigned t = 0; t < threads; ++t) {
            const unsigned first = g * s.group_step + t, last = first + (s.steps - 1) * s.step;
            unsigned at = first + g * s.skew % s.steps * s.step;
            std::uint32_t sum = 0;
            for (unsigned left = s.rounds * s.steps; left != 0; --left) {
                for (unsigned u = 0; u < unroll; ++u) sum += visit((at + u * threads) * 4U);
                at = at == last ? first : at + s.step;
            }
            if (out != nullptr) out[g * threads + t] = sum;
        }
}

void run_memory(const Function& f, unsigned groups, unsigned threads, void** with) {
    auto* data = pointer<std::uint32_t>(with, 0);
    if (f.name == "fill") {
        const auto count = argument<unsigned>(with, 1) * 4U, factor = argument<unsigned>(with, 2),
                   bias = argument<unsigned>(with, 3);
        for (unsigned i = 0; i < count; ++i) data[i] = i * factor + bias;
    } else if (f.name == "load") {
        walk(f, groups, threads, Steps(with, 3), pointer<std::uint32_t>(with, 1),
             [&](unsigned w) { return data[w] + data[w + 1] + data[w + 2] + data[w + 3]; });
    } else if (f.name == "store") {
        const auto factor = argument<unsigned>(with, 7), bias = argument<unsigned>(with, 8);
        walk(f, groups, threads, Steps(with, 2), nullptr, [&](unsigned w) {
            for (unsigned i = w; i < w + 4; ++i) data[i] = i * factor + bias;
            return 0U;
        });
    } else if (f.name == "copy") {
        const auto* from = pointer<std::uint32_t>(with, 1);
        walk(f, groups, threads, Steps(with, 3), nullptr, [&](unsigned w) {
            std::memcpy(data + w, from + w, 16);
            return 0U;
        });
    }
}

// The last product of these kernels adds 3 in each of k steps to even rows, 2 to odd ones, of accumulators that begin
// at 1, 2, 4, 8.
void run_tensor(const Function& f, unsigned groups, unsigned threads, void** with) {
    int m = 0, n = 0, k = 0;
    for (auto at = f.text.find("#define MMA_"); at != std::string::npos && k == 0; at = std::string::npos) {
        const auto shape = f.text.find("_M", at);
        std::sscanf(f.text.c_str() + shape, "_M%dN%dK%d", &m, &n, &k);
    }
    for (unsigned t = 0; t < groups * threads; ++t) {
        double sum = 0;
        for (int c = 0; c < f.define("CHAINS", 1); ++c)
            sum += m * n / 32 * ((1 << (c & 3)) + (t % 32 / 4 % 2 == 0 ? 3.0 : 2.0) * k);
        pointer<double>(with, 0)[t] = sum;
    }
    report_times(with, 1, groups);
}

// The words of varied() in tensor_operands.cu.
void fill_matrix(const Function& f, void** with) {
    const std::map<std::string, std::pair<unsigned, unsigned>> kinds{{"OPERAND_FP16", {0x3c003c00U, 0x01000100U}},
                                                                     {"OPERAND_BF16", {0x3f803f80U, 0x00200020U}},
                                                                     {"OPERAND_TF32", {0x3f800000U, 0x00200000U}},
                                                                     {"OPERAND_INT8", {0x01010101U, 0x04040404U}},
                                                                     {"OPERAND_FP8", {0x38383838U, 0x02020202U}}};
    for (const auto& [name, words] : kinds) {
        if (!f.defined(name)) continue;
        for (unsigned i = 0; i < argument<unsigned>(with, 1); ++i) {
            const unsigned pick = (i + 1) * 0x9e3779b9U + (argument<unsigned>(with, 2) + 1) * 0x85ebca6bU;
            pointer<unsigned>(with, 0)[i] = words.first | (words.second & (pick ^ (pick >> 13U)));
        }
    }
}

}  // namespace

void run(const Function& f, unsigned groups, unsigned threads, void** with) {
    if (f.name == variable("FAKE_BROKEN", "")) return;  // a kernel that does nothing
    if (f.name == "arithmetic") {
        if (f.defined("TYPE_FP64")) run_arithmetic<double>(f, groups, threads, with);
        if (f.defined("TYPE_FP32")) run_arithmetic<float>(f, groups, threads, with);
    } else if (f.name == "tensor_mma") {
        run_tensor(f, groups, threads, with);
    } else if (f.name == "chase" || f.name == "shared_chase") {
        const auto* ring = pointer<std::uint32_t>(with, 0);
        std::uint32_t at = argument<unsigned>(with, 3);
        const long long trips = argument<unsigned>(with, 4) + argument<unsigned>(with, 5);
        for (long long i = trips * f.define("UNROLL", 1); i > 0; --i) {
            std::uint64_t next = 0;  // an address; a place in shared memory
            std::memcpy(&next, ring + at, sizeof next);
            at = f.name == "chase" ? static_cast<std::uint32_t>((next - argument<std::uint64_t>(with, 0)) / 4)
                                   : static_cast<std::uint32_t>(next);
        }
        *pointer<std::uint32_t>(with, 1) = at;
    } else if (f.name == "nothing") {
        if (const auto mark = argument<unsigned>(with, 1); mark != 0) *pointer<std::uint32_t>(with, 0) = mark;
    } else if (f.name == "matrix_fill") {
        fill_matrix(f, with);
    } else {
        run_memory(f, groups, threads, with);
    }
}
