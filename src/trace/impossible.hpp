// Work and bytes that no GPU of this kind does in the measured time: then the shapes are of something else.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>

namespace gambrel::trace_detail {

class Possible {
public:
    explicit Possible(const Machine& machine);
    // Why the kernel cannot have done what it was given; empty: it can.
    [[nodiscard]] std::string fault(const Kernel& kernel) const;

private:
    std::vector<std::pair<Level, double>> memory_;
    std::vector<std::pair<Pipe, double>> compute_;
    double cache_ = 0;
};

}  // namespace gambrel::trace_detail
