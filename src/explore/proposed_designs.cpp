#include <gambrel/explore.hpp>

namespace gambrel {
namespace {

using R = Resource;

Factors factors(std::initializer_list<std::pair<Resource, double>> list) {
    Factors f;
    for (const auto& [resource, factor] : list) f[resource] = factor;
    return f;
}

}  // namespace

// DeLTA (arXiv 1904.01691) shows nine options. These follow its description, not its table: from compute alone through
// bandwidth alone to balanced designs with larger tiles. docs/cli/reproduce.md says so.
std::vector<ProposedDesign> proposed_designs() {
    return {
        {"1", "2x SMs, nothing else", factors({{R::sms, 2}})},
        {"2", "4x SMs, nothing else", factors({{R::sms, 4}})},
        {"3", "2x MACs of an SM", factors({{R::macs, 2}})},
        {"4", "2x L2 and DRAM bandwidth", factors({{R::l2_bandwidth, 2}, {R::dram_bandwidth, 2}})},
        {"5", "2x bandwidth of all levels",
         factors({{R::shared_bandwidth, 2}, {R::l1_bandwidth, 2}, {R::l2_bandwidth, 2}, {R::dram_bandwidth, 2}})},
        {"6", "2x SMs, 2x L2 and DRAM bandwidth",
         factors({{R::sms, 2}, {R::l2_bandwidth, 2}, {R::l2_capacity, 2}, {R::dram_bandwidth, 2}})},
        {"7", "4x MACs in 2x SMs, 2x L2 and DRAM",
         factors({{R::sms, 2}, {R::macs, 2}, {R::l2_bandwidth, 2}, {R::l2_capacity, 2}, {R::dram_bandwidth, 2}})},
        {"8", "as 7, with 2x registers, shared memory and its bandwidth: larger tiles",
         factors({{R::sms, 2},
                  {R::macs, 2},
                  {R::registers, 2},
                  {R::shared, 2},
                  {R::shared_bandwidth, 2},
                  {R::l1_bandwidth, 2},
                  {R::l2_bandwidth, 2},
                  {R::l2_capacity, 2},
                  {R::dram_bandwidth, 2}})},
        {"9", "8x MACs in 4x SMs, larger tiles, 3x L2, 2.5x DRAM",
         factors({{R::sms, 4},
                  {R::macs, 2},
                  {R::registers, 2},
                  {R::shared, 2},
                  {R::shared_bandwidth, 2},
                  {R::l1_bandwidth, 2},
                  {R::l2_bandwidth, 3},
                  {R::l2_capacity, 4},
                  {R::dram_bandwidth, 2.5}})},
    };
}

}  // namespace gambrel
