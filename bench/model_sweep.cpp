// `make sweep`: the model against itself, on as many random (layer, GPU) pairs as the first argument says. Ends with 1
// and an example of each kind of broken invariant if there is one.
#include <cstdlib>
#include <map>

#include "delta/sweep.hpp"

int main(int argc, char** argv) {
    using namespace gambrel;
    const long wanted = argc > 1 ? std::atol(argv[1]) : 250000;
    const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atol(argv[2]) : 1);
    std::vector<test::SweptGpu> gpus;
    for (const Machine& machine : catalogue()) gpus.emplace_back(machine);
    test::RandomLayers layers(seed);
    std::map<std::string, std::pair<long, std::string>> broken;  // by kind: how many, and the first
    long pairs = 0;
    for (std::size_t at = 0; pairs < wanted; ++at) {
        const Layer layer = layers.next();
        for (std::size_t i = 0; i < 8 && pairs < wanted; ++i) {
            const test::SweptGpu& gpu = gpus[(at * 5 + i * 9) % gpus.size()];
            if (!pipe_for(layer, gpu.machine)) continue;
            ++pairs;
            for (const std::string& what : test::broken_invariants(layer, gpu)) {
                std::string kind = what;
                std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
                auto& [count, first] = broken[kind + std::string(name(layer.pass))];
                if (count++ % 1000 == 0)
                    first += fmt::format("\n    {} on {}: {}", test::text_of(layer), gpu.machine.id, what);
            }
        }
    }
    fmt::print("{} pairs of a layer and a GPU\n", pairs);
    for (const auto& [kind, found] : broken) fmt::print("{} times: {}\n", found.first, found.second);
    return broken.empty() ? 0 : 1;
}
