#include "delta/at_once.hpp"

namespace gambrel {
namespace delta_detail {
namespace {

AtOnceFunctions widest() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (const auto* functions = at_once_avx512(); functions && avx512) return *functions;
    if (const auto* functions = at_once_avx2(); functions && __builtin_cpu_supports("avx2")) return *functions;
#endif
    return at_once_in_lanes<2>();
}

const AtOnceFunctions& functions() {
    static const AtOnceFunctions chosen = widest();
    return chosen;
}

}  // namespace
}  // namespace delta_detail

using namespace delta_detail;

bool predicted_times(const Placement::Basis& basis, const Designs& designs, PerDesign& times) {
    if (const auto* tiled = std::get_if<LaunchCounts>(&basis))
        functions().tiled(*tiled, designs, times);
    else if (const auto* streaming = std::get_if<StreamingCounts>(&basis))
        functions().streaming(*streaming, designs, times);
    else
        return false;
    return true;
}

UnitTimes unit_times(const Designs& designs, Pipe pipe) {
    UnitTimes units;
    functions().units(designs, pipe, units);
    return units;
}

void least_times(const LeastWork& work, std::span<const UnitTimes> units, PerDesign* times) {
    functions().least(work, units, times);
}

void take_less(std::span<const double> bounds, double number, LeastBounds& least) {
    functions().take_less(bounds, number, least.bounds.data(), least.numbers.data());
}

}  // namespace gambrel
