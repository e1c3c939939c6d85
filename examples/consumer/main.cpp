// What a program of yours needs to ask for a verdict: a machine, what a kernel did, and roofline().
#include <cstdio>

#include <gambrel/roofline.hpp>

int main() {
    const gambrel::Machine* machine = gambrel::find_in_catalogue("v100");
    if (machine == nullptr) return 2;

    gambrel::Kernel kernel;
    kernel.name = gambrel::Symbol("axpy");
    kernel.time = {gambrel::Seconds{1e-3}, gambrel::Origin::modelled, {}};
    kernel.work[gambrel::Pipe::fp64] = {gambrel::Flops{100e6}, gambrel::Origin::modelled, {}};
    kernel.bytes[gambrel::Level::dram] = {gambrel::Bytes{600e6}, gambrel::Origin::modelled, {}};

    const gambrel::Roofline verdict = gambrel::roofline(*machine, kernel);
    std::printf("%s on %s: bound by %s, %.0f %% of its roof\n", kernel.name.str().c_str(), machine->name.c_str(),
                gambrel::to_text(verdict.bound).c_str(), 100 * verdict.of_roof.value_or(0));
    return verdict.bound == gambrel::Bound{gambrel::Level::dram} ? 0 : 1;
}
