// The machine whose ceilings one can keep in the head: 100 GFLOP/s and 10 GB/s, so the ridge is at 10 FLOP/B.
#pragma once

#include <gambrel/roofline.hpp>

#include "kernel/sample.hpp"

namespace gambrel::test {

template <class Q>
Sourced<Q> known(Q value) {
    return {value, Origin::datasheet, "test"};
}

inline Machine toy_machine() {  // 1 SM at 1 GHz; L1 100 GB/s, L2 50 GB/s, DRAM 10 GB/s
    Machine m;
    m.id = "toy";
    m.name = "Toy";
    m.clocks.boost = known(Frequency{1e9});
    m.sm.sms = known(1.0);
    m.pipes[Pipe::fp32].dense = known(FlopPerCycle{100});
    m.pipes[Pipe::fp16].dense = known(FlopPerCycle{200});
    m.pipes[Pipe::tensor_fp16].dense = known(FlopPerCycle{1000});
    m.pipes[Pipe::tensor_fp16].sparse = known(FlopPerCycle{2000});
    m.pipes[Pipe::tensor_fp8].dense = known(FlopPerCycle{2000});
    m.at(Level::l1).per_sm = true;
    m.at(Level::l1).width = known(BytesPerCycle{100});
    m.at(Level::l2).width = known(BytesPerCycle{50});
    m.at(Level::l2).capacity = known(Bytes{6e6});
    m.at(Level::dram).bandwidth = known(Bandwidth{10e9});
    return m;
}

}  // namespace gambrel::test
