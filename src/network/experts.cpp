#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gambrel/layer.hpp>

#include "base/arithmetic.hpp"
#include "network/check.hpp"
#include "network/transformer.hpp"

namespace gambrel {
namespace {

// The quantile of a load whose density falls as load^-exponent between `least` and `most`.
double power_law(double share, double exponent, double least, double most) {
    if (std::abs(exponent - 1) < 1e-6) return least * std::pow(most / least, share);
    const double low = std::pow(least, 1 - exponent), high = std::pow(most, 1 - exponent);
    return std::pow(low + (high - low) * share, 1 / (1 - exponent));
}

double total(const std::vector<double>& loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }

// Adds tokens one by one, from the first expert on, until `sum` are given; none has more than `most`.
void hand_out(std::vector<double>& loads, double sum, double most) {
    double given = total(loads);
    for (std::size_t round = 0; round < 64 && given != sum; ++round)
        for (double& load : loads) {
            if (given < sum && load < most) ++load, ++given;
            if (given > sum && load > 0 && round > 0) --load, --given;
            if (given == sum) break;
        }
}

// Whole tokens of all experts by rank; what rounding leaves over is not handed out yet.
std::vector<double> rounded_loads(const MixtureOfExperts& m) {
    const double experts = real(m.experts), sum = real(m.tokens) * real(m.topk);
    const bool many = sum > experts;
    std::vector<double> loads(static_cast<std::size_t>(m.experts));
    for (std::size_t i = 0; i < loads.size(); ++i)
        loads[i] = power_law(1 - (static_cast<double>(i) + 0.5) / experts, m.imbalance, many ? 1 : 0.01,
                             many ? std::max(1.25, 0.8 * real(m.tokens)) : 2);
    const double drawn = total(loads);
    for (double& load : loads) load = std::min(real(m.tokens), std::round(load * sum / drawn));
    return loads;
}

// Which experts are on which GPU has nothing to do with their load: the middle one of some shuffles, each by its
// busiest GPU.
std::vector<double> busiest(const std::vector<double>& all, std::size_t local) {
    constexpr std::size_t kShuffles = 5;
    std::array<std::pair<double, std::vector<double>>, kShuffles> found;
    std::uint64_t state = 12345;
    for (auto& [most, loads] : found) {
        std::vector<double> order = all;
        for (std::size_t i = order.size() - 1; i > 0; --i) {
            state = (state * 1103515245 + 12345) % (1ULL << 31);
            std::swap(order[i], order[(state >> 8) % (i + 1)]);
        }
        for (std::size_t at = 0; at + local <= order.size(); at += local) {
            const auto begin = order.begin() + static_cast<std::ptrdiff_t>(at);
            const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(local), 0.0);
            if (!loads.empty() && sum <= most) continue;
            most = sum;
            loads.assign(begin, begin + static_cast<std::ptrdiff_t>(local));
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return found[kShuffles / 2].second;
}

}  // namespace

std::int64_t MixtureOfExperts::local_experts() const {
    return std::max<std::int64_t>(1, experts / std::max<std::int64_t>(1, expert_parallel));
}
double MixtureOfExperts::local_intermediate() const {
    return real(intermediate) / real(std::max<std::int64_t>(1, tensor_parallel));
}

std::vector<double> expert_loads(const MixtureOfExperts& m) {
    const auto local = static_cast<std::size_t>(m.local_experts());
    const double gpus = real(m.experts) / static_cast<double>(local), sum = real(m.tokens) * real(m.topk);
    std::vector<double> loads(local);
    if (m.imbalance <= 0) {
        const double here = std::ceil(sum / gpus), each = std::floor(here / static_cast<double>(local));
        std::fill(loads.begin(), loads.end(), each);
        hand_out(loads, here, real(m.tokens));
    } else {
        std::vector<double> all = rounded_loads(m);
        // Few tokens leave most experts with less than half of one; those go round the GPUs.
        const bool few = sum <= real(m.experts);
        const double left = sum - total(all);
        if (!few) hand_out(all, sum, real(m.tokens));
        loads = local == all.size() ? all : busiest(all, local);
        if (few) hand_out(loads, total(loads) + std::ceil(std::max(0.0, left) / gpus), real(m.tokens));
    }
    std::sort(loads.rbegin(), loads.rend());
    return loads;
}

RoutedWork routed_work(const MixtureOfExperts& m) {
    RoutedWork work;
    for (const double load : expert_loads(m)) {
        work.assignments += load;
        work.experts_touched += std::min(1.0, load);
    }
    return work;
}

std::vector<std::string> faults(const MixtureOfExperts& m) {
    network_detail::Check check;
    for (const auto& [what, value] : {std::pair{"tokens", m.tokens},
                                      {"hidden", m.hidden},
                                      {"intermediate", m.intermediate},
                                      {"topk", m.topk},
                                      {"tp", m.tensor_parallel},
                                      {"ep", m.expert_parallel}})
        check.range(what, value, 1, network_detail::kLargestSize);
    check.range("experts", m.experts, 1, 1 << 16);
    if (!check.clean()) return check.take();
    if (m.topk > m.experts) check.fault(fmt::format("topk {} is more than the {} experts", m.topk, m.experts));
    if (m.experts % m.expert_parallel != 0)
        check.fault(fmt::format("experts {} is not divisible by ep {}", m.experts, m.expert_parallel));
    if (m.intermediate % m.tensor_parallel != 0)
        check.fault(fmt::format("intermediate {} is not divisible by tp {}", m.intermediate, m.tensor_parallel));
    if (!(m.imbalance >= 0 && m.imbalance <= 8))
        check.fault(fmt::format("imbalance is {}, expected 0 to 8", m.imbalance));
    check.elements("the experts", {m.experts, m.hidden, m.intermediate});
    return check.take();
}

namespace network_detail {

Flops experts_flop(const MixtureOfExperts& m) {
    const double matrices = m.gated ? 3 : 2;
    return Flops{2 * matrices * routed_work(m).assignments * real(m.hidden) * m.local_intermediate()};
}

OperandBytes experts_bytes(const MixtureOfExperts& m, const Layer& layer) {
    const Bytes size = element_size(layer.precision), weight = element_size(layer.weights.value_or(layer.precision));
    const double matrices = m.gated ? 3 : 2;
    const RoutedWork work = routed_work(m);
    OperandBytes b;
    b.input = real(m.tokens) * real(m.hidden) * size;
    b.filter = work.experts_touched * matrices * real(m.hidden) * m.local_intermediate() * weight;
    b.output = b.input;
    b.written = layer.pass == Pass::fwd ? b.output : layer.pass == Pass::dgrad ? b.input : b.filter;
    b.read = b.input + b.filter + b.output - b.written;
    return b;
}

}  // namespace network_detail
}  // namespace gambrel
