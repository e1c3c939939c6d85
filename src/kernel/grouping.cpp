#include <gambrel/kernel.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace gambrel {
namespace {

// In the order of grouping_names().
constexpr std::array kGroupings = {Grouping::launch, Grouping::kernel, Grouping::op,
                                   Grouping::module, Grouping::phase,  Grouping::rank};

// Adds members one by one and remembers which amounts had holes, so that the sum can say so at the end.
class Sum {
public:
    explicit Sum(const Kernel& first) : sum_(first), members_(1) {
        add_clock(first);
        note_known(first);
    }

    // A launch without a time is broken (a failed launch, a wrapped counter). Adding its other amounts would spoil
    // every rate of the sum, so beside launches that have a time it is counted, named in a reason, and left out.
    void add(const Kernel& k) {
        if (k.time && !sum_.time) return restart(k);
        add_identity(k);
        if (!k.time && sum_.time) {
            left_out_ += k.launches;
            return;
        }
        ++members_;
        note_known(k);
        sum_.has_uncounted_work |= k.has_uncounted_work;
        merge(sum_.time, k.time);
        for (const Pipe p : all_pipes()) merge(sum_.work[p], k.work[p]);
        merge(sum_.sparse_work, k.sparse_work);
        for (const Level l : all_levels()) merge(sum_.bytes[l], k.bytes[l]);
        add_clock(k);
        if (k.clock && !sum_.clock) sum_.clock = k.clock;
        const auto peak = [](auto& p) -> auto& { return p.peak.value; };
        merge_means(
            sum_.pipe_peaks, k.pipe_peaks, k, [](const auto& p) { return p.pipe; }, peak);
        merge_means(
            sum_.level_peaks, k.level_peaks, k, [](const auto& p) { return p.level; }, peak);
        merge_means(
            sum_.gauges, k.gauges, k, [](const auto& g) { return g.name; },
            [](auto& g) -> auto& { return g.reading.value; });
    }

    Kernel finished(TimeSum time_sum = TimeSum::exact) {
        if (left_out_ > 0)
            add_reason(Symbol{std::to_string(left_out_) + " of " + std::to_string(sum_.launches) +
                              " launches have no time and are left out of the sums"});
        for (const Pipe p : all_pipes()) close(sum_.work[p], known_work_[p], std::string(name(p)) + " work");
        for (const Level l : all_levels()) close(sum_.bytes[l], known_bytes_[l], std::string(name(l)) + " bytes");
        if (sum_.sparse_work && known_sparse_ != members_) sum_.sparse_work.reset();
        if (sum_.clock && cycles_.value() > 0) {
            sum_.clock->value = cycles_ / clocked_time_;
            // Only where every launch has a clock: the paper's way needs the cycles of all of them.
            if (time_sum == TimeSum::mean_rate && clocked_launches_ == sum_.launches - left_out_) {
                sum_.clock->value = clock_sum_ / static_cast<double>(clocked_launches_);
                sum_.time->value = cycles_ / sum_.clock->value;
            }
        }
        return std::move(sum_);
    }

private:
    void restart(const Kernel& k) {
        const Kernel before = std::exchange(sum_, k);
        *this = Sum(k, before.launches);
        add_identity(before);
    }
    Sum(const Kernel& first, std::uint64_t left_out) : Sum(first) { left_out_ = left_out; }

    void add_identity(const Kernel& k) {
        sum_.launches += k.launches;
        sum_.zero_flop_launches += k.zero_flop_launches;
        if (sum_.shape != k.shape) sum_.shape.reset();
        if (sum_.source != k.source) sum_.source = Symbol{};
        if (sum_.device != k.device) sum_.device = Symbol{};
        if (sum_.op != k.op) sum_.op = Symbol{};
        if (sum_.module != k.module) sum_.module = Symbol{};
        if (sum_.rank != k.rank) sum_.rank = Symbol{};
        if (sum_.time_class != k.time_class) sum_.time_class = Symbol{};
        for (const Symbol reason : k.reasons) add_reason(reason);
        for (const Symbol remedy : k.remedies) add_once(sum_.remedies, remedy);
    }

    void add_clock(const Kernel& k) {
        if (!k.clock || !k.time) return;
        cycles_ += k.clock->value * k.time->value;
        clocked_time_ += k.time->value;
        clock_sum_ += k.clock->value * static_cast<double>(k.launches);
        clocked_launches_ += k.launches;
    }

    static void add_once(std::vector<Symbol>& list, Symbol item) {
        if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    }
    void add_reason(Symbol reason) { add_once(sum_.reasons, reason); }

    template <class Q>
    static void merge(Known<Q>& sum, const Known<Q>& part) {
        if (!part) return;
        if (!sum) {
            sum = part;
            return;
        }
        sum->value += part->value;
        // The weakest origin of the members: a sum with one modelled part is modelled.
        sum->origin = std::max(sum->origin, part->origin);
        if (sum->rule != part->rule) sum->rule = Symbol{"several"};
    }

    // Peaks and gauges of a group: the mean over its time. Called after the time was added.
    template <class List, class Key, class ValueOf>
    void merge_means(List& sum, const List& part, const Kernel& k, Key key, ValueOf value_of) {
        if (!k.time || !sum_.time || sum_.time->value.value() <= 0) return;
        const double share = k.time->value / sum_.time->value;
        for (const auto& p : part) {
            const auto it = std::find_if(sum.begin(), sum.end(), [&](const auto& s) { return key(s) == key(p); });
            if (it == sum.end())
                sum.push_back(p);
            else
                value_of(*it) += (value_of(p) - value_of(*it)) * share;
        }
    }

    void note_known(const Kernel& k) {
        known_sparse_ += k.sparse_work ? 1 : 0;
        for (const Pipe p : all_pipes()) known_work_[p] += k.work[p] ? 1 : 0;
        for (const Level l : all_levels()) known_bytes_[l] += k.bytes[l] ? 1 : 0;
    }

    template <class Q>
    void close(Known<Q>& sum, std::uint64_t known, const std::string& what) {
        if (!sum || known == members_) return;
        sum.reset();
        add_reason(Symbol{what + " unknown for some launches"});
    }

    Kernel sum_;
    std::uint64_t members_;
    std::uint64_t left_out_ = 0;
    std::uint64_t known_sparse_ = 0;
    // Over the launches that have a clock; one without must not pull the mean down.
    Cycles cycles_;
    Seconds clocked_time_;
    Frequency clock_sum_;
    std::uint64_t clocked_launches_ = 0;
    PerPipe<std::uint64_t> known_work_{};
    PerLevel<std::uint64_t> known_bytes_{};
};

struct Key {
    Symbol name, phase, device, time_class;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    std::size_t operator()(const Key& k) const {
        const std::hash<Symbol> h;
        return h(k.name) ^ (h(k.phase) * 31) ^ (h(k.device) * 131) ^ (h(k.time_class) * 524287);
    }
};

// What members of a group have in common, by the name of the group; empty: nothing but phase and device.
Symbol shared_name(const Kernel& k, Grouping by) {
    switch (by) {
        case Grouping::kernel:
            return k.name;
        case Grouping::op:
            return k.op.empty() ? Symbol{"(no operator)"} : k.op;
        case Grouping::module:
            return k.module.empty() ? Symbol{"(no module)"} : k.module;
        case Grouping::rank:
            return k.rank.empty() ? Symbol{"(no rank)"} : k.rank;
        case Grouping::launch:
        case Grouping::phase:
            break;
    }
    return {};
}

// Over different kernels a mean number of registers says nothing; how busy the units were still does.
void forget_launch(Kernel& sum) {
    sum.shape.reset();
    std::erase_if(sum.gauges, [](const auto& g) { return !g.name.str().starts_with("use_"); });
}

// Falling; `out` has places in `groups` and gets those in the sorted list.
void sort_by_time(std::vector<Kernel>& groups, Groups& out) {
    std::vector<std::size_t> order(groups.size()), place(groups.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto time_of = [&](std::size_t i) { return groups[i].time ? groups[i].time->value.value() : 0; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return time_of(a) > time_of(b); });
    out.kernels.reserve(groups.size());
    for (const std::size_t i : order) {
        place[i] = out.kernels.size();
        out.kernels.push_back(std::move(groups[i]));
    }
    for (std::size_t& group : out.of_launch) group = place[group];
}

Groups summed_groups(const std::vector<Kernel>& launches, Grouping by, TimeSum time_sum, bool by_class) {
    Groups out;
    out.of_launch.reserve(launches.size());
    std::vector<Sum> sums;
    std::unordered_map<Key, std::size_t, KeyHash> index;
    for (const Kernel& launch : launches) {
        // Devices are never summed together: their roofs differ.
        const Symbol phase = by == Grouping::rank ? Symbol{} : launch.phase;
        const Symbol time_class = by_class ? launch.time_class : Symbol{};
        const auto [it, fresh] =
            index.try_emplace(Key{shared_name(launch, by), phase, launch.device, time_class}, sums.size());
        out.of_launch.push_back(it->second);
        if (fresh)
            sums.emplace_back(launch);
        else
            sums[it->second].add(launch);
    }
    std::vector<Kernel> groups;
    groups.reserve(sums.size());
    for (auto& sum : sums) groups.push_back(sum.finished(time_sum));
    if (by == Grouping::phase)
        for (auto& g : groups) g.name = g.phase.empty() ? Symbol{"(no phase)"} : g.phase, forget_launch(g);
    else if (by != Grouping::kernel)
        for (auto& g : groups) g.name = shared_name(g, by), forget_launch(g);
    if (by == Grouping::rank)
        for (auto& g : groups) g.phase = Symbol{};
    if (!by_class)
        for (auto& g : groups) g.time_class = Symbol{};
    sort_by_time(groups, out);
    return out;
}

}  // namespace

const std::vector<std::string>& grouping_names() {
    static const std::vector<std::string> names = {"launch", "kernel", "operator", "module", "phase", "rank"};
    return names;
}

std::optional<Grouping> grouping_from(std::string_view name) {
    const auto& names = grouping_names();
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? std::nullopt : std::optional(kGroupings[static_cast<std::size_t>(at - names.begin())]);
}

std::vector<Kernel> grouped(std::vector<Kernel> launches, Grouping by, TimeSum time_sum) {
    return groups_of(std::move(launches), by, time_sum).kernels;
}

std::vector<Kernel> phase_sums(const std::vector<Kernel>& launches, TimeSum time_sum) {
    return summed_groups(launches, Grouping::phase, time_sum, false).kernels;
}

Groups groups_of(std::vector<Kernel> launches, Grouping by, TimeSum time_sum) {
    if (by != Grouping::launch) return summed_groups(launches, by, time_sum, true);
    Groups out;
    out.of_launch.resize(launches.size());
    std::iota(out.of_launch.begin(), out.of_launch.end(), std::size_t{0});
    out.kernels = std::move(launches);
    return out;
}

Kernel total(const std::vector<Kernel>& kernels, std::string_view name) {
    if (kernels.empty()) {
        Kernel none;
        none.name = Symbol{name};
        none.launches = 0;
        return none;
    }
    Sum sum(kernels.front());
    for (std::size_t i = 1; i < kernels.size(); ++i) sum.add(kernels[i]);
    Kernel result = sum.finished();
    result.name = Symbol{name};
    result.phase = Symbol{};
    forget_launch(result);
    return result;
}

}  // namespace gambrel
