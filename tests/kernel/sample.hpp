// Launches with round numbers for tests of kernels and verdicts.
#pragma once

#include <gambrel/kernel.hpp>

namespace gambrel::test {

template <class Q>
Amount<Q> measured(Q value, std::string_view rule = "test") {
    return {value, Origin::measured, Symbol(rule)};
}

inline Kernel launch(std::string_view name, double seconds) {
    Kernel k;
    k.name = Symbol(name);
    k.device = Symbol("Toy");
    k.time = measured(Seconds{seconds});
    return k;
}

inline Kernel launch(std::string_view name, double seconds, double fp32, double dram_bytes) {
    Kernel k = launch(name, seconds);
    k.work[Pipe::fp32] = measured(Flops{fp32});
    k.work[Pipe::fp16] = k.work[Pipe::tensor_fp16] = measured(Flops{0});  // counted, so that zero is known to be zero
    k.bytes[Level::dram] = measured(Bytes{dram_bytes});
    k.zero_flop_launches = fp32 == 0 ? 1 : 0;
    return k;
}

}  // namespace gambrel::test
