#include <gambrel/kernel.hpp>

#include <algorithm>

namespace gambrel {
namespace {

// Sum of the known work of the pipes that `counts` accepts; absent if none of them is known.
template <class Accept>
Known<Flops> summed(const Kernel& kernel, Accept counts) {
    Known<Flops> sum;
    for (const Pipe p : all_pipes()) {
        const auto& work = kernel.work[p];
        if (!counts(p) || !work) continue;
        if (!sum) {
            sum = *work;
            continue;
        }
        sum->value += work->value;
        sum->origin = std::max(sum->origin, work->origin);  // the weakest: one modelled part makes the sum modelled
        if (sum->rule != work->rule) sum->rule = Symbol{"several"};
    }
    return sum;
}

}  // namespace

Known<Flops> flop(const Kernel& kernel) {
    if (kernel.has_uncounted_work) return std::nullopt;
    const auto sum = summed(kernel, [](Pipe p) { return !is_integer(p); });
    const bool all_counted = kernel.work[Pipe::fp32] && kernel.work[Pipe::fp16] && tensor_flop(kernel);
    if (sum && sum->value.value() == 0 && !all_counted) return std::nullopt;
    return sum;
}

Known<Flops> tensor_flop(const Kernel& kernel) {
    return summed(kernel, [](Pipe p) { return is_tensor(p) && !is_integer(p); });
}

bool is_zero_flop(const Kernel& kernel) {
    const auto all = flop(kernel);
    return all && all->value.value() == 0;
}

std::optional<Intensity> intensity(const Kernel& kernel, Level level) {
    const auto work = flop(kernel);
    const auto& bytes = kernel.bytes[level];
    if (!work || !bytes || bytes->value.value() <= 0) return std::nullopt;
    return work->value / bytes->value;
}

const Amount<double>* gauge(const Kernel& kernel, std::string_view name) {
    const auto it =
        std::find_if(kernel.gauges.begin(), kernel.gauges.end(), [&](const auto& g) { return g.name.str() == name; });
    return it == kernel.gauges.end() ? nullptr : &it->reading;
}

std::optional<FlopRate> flop_rate(const Kernel& kernel) {
    const auto work = flop(kernel);
    if (!work || !kernel.time || kernel.time->value.value() <= 0) return std::nullopt;
    return work->value / kernel.time->value;
}

}  // namespace gambrel
