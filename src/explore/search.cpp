#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "explore/search.hpp"

namespace gambrel {
namespace {

constexpr std::uint64_t kPart = 512;   // designs of a part: a few milliseconds, so that a kill loses little
constexpr std::uint64_t kRounds = 12;  // of coordinate descent; it ends earlier where nothing improves
constexpr std::array<std::string_view, 4> kSearchNames = {"auto", "grid", "random", "guided"};

// SplitMix64 (Steele, Lea, Flood 2014): std::mt19937's distributions differ between libraries, and a seed must not.
struct Random {
    std::uint64_t state;
    std::uint64_t operator()() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t n) { return (*this)() % n; }
};

struct Mix {
    std::uint64_t value = 0xcbf29ce484222325;
    void add(std::uint64_t v) { value = Random{value ^ v}(); }
    void add(double v) { add(std::bit_cast<std::uint64_t>(v)); }
    void add(std::string_view text) {
        add(static_cast<std::uint64_t>(text.size()));
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
};

}  // namespace

std::string_view name(Search search) { return kSearchNames[static_cast<std::size_t>(search)]; }
std::optional<Search> search_from(std::string_view name) {
    const auto found = std::find(kSearchNames.begin(), kSearchNames.end(), name);
    if (found == kSearchNames.end()) return std::nullopt;
    return static_cast<Search>(found - kSearchNames.begin());
}

Exploration::Exploration(const DesignEvaluator& evaluator, const Space& space, const CostTable& costs,
                         SearchOptions options)
    : evaluator_(evaluator), space_(space), costs_(costs), options_(std::move(options)), search_(options_.search) {
    if (search_ == Search::automatic) search_ = space_.size() <= options_.samples ? Search::grid : Search::guided;
    const std::uint64_t n = search_ == Search::grid ? space_.size() : options_.samples;
    parts_ = search_ == Search::guided ? options_.restarts : (n + kPart - 1) / kPart;
    auto scratch = evaluator_.scratch();
    base_time_ = evaluator_.time({}, scratch);
}

std::optional<std::uint64_t> Exploration::designs_before(std::uint64_t part) const {
    if (search_ == Search::guided) return std::nullopt;
    return std::min(part * kPart, search_ == Search::grid ? space_.size() : options_.samples);
}

bool Exploration::within_limits(const Factors& factors, const Design& d) const {
    return std::isfinite(d.time) &&
           std::all_of(options_.limits.begin(), options_.limits.end(),
                       [&](const Limit& limit) { return limit.holds(factors, d.cost, d.time, base_time_); });
}

bool Exploration::reaches_target(const Design& d) const {
    return options_.target && base_time_ / d.time >= *options_.target * (1 - 1e-12);
}

// One part at work: looks at designs, keeps what it finds.
struct Exploration::SearchPart {
    const Exploration& e;
    DesignEvaluator::Scratch& scratch;
    bool keep;
    Part part;

    std::vector<Factors> factors;
    std::vector<double> times;
    std::vector<Design> looked_at;

    const std::vector<Design>& look(const std::vector<std::uint64_t>& indices) {
        factors.clear();
        for (const std::uint64_t index : indices) factors.push_back(e.space_.at(index));
        times.resize(indices.size());
        e.evaluator_.times(factors, scratch, times);
        looked_at.clear();
        for (std::size_t i = 0; i < indices.size(); ++i) {
            const Factors& f = factors[i];
            const Design& d = looked_at.emplace_back(Design{indices[i], e.costs_(f), times[i]});
            ++part.result.evaluated;
            if (!e.within_limits(f, d)) continue;
            part.result.add(d, e.reaches_target(d));
            if (keep) part.designs.push_back(d);
        }
        return looked_at;
    }
};

Exploration::Part Exploration::run(std::uint64_t number, DesignEvaluator::Scratch& scratch, bool keep_designs) const {
    if (search_ == Search::guided) return guided(number, scratch, keep_designs);
    SearchPart search{*this, scratch, keep_designs, {}, {}, {}, {}};
    const std::uint64_t first = number * kPart, size = space_.size();
    const std::uint64_t last = std::min(first + kPart, search_ == Search::grid ? size : options_.samples);
    Random random{Random{options_.seed}() + number};
    std::vector<std::uint64_t> indices;
    for (std::uint64_t i = first; i < last; ++i) indices.push_back(search_ == Search::grid ? i : random.below(size));
    search.look(indices);
    return std::move(search.part);
}

// Coordinate descent: along one axis after the other to the best value, from a random start, until a round changes
// nothing. Each restart has another price of cost in its objective, from time alone to cost twice as dear as time, so
// that together they trace the front; every design that was looked at counts.
struct Exploration::Objective {
    const Exploration& e;
    double price;
    bool to_target;

    // How far beyond the limits, as logarithms: the slope that leads back.
    [[nodiscard]] double excess(const Design& d) const {
        const Factors f = e.space_.at(d.index);
        double over = 0;
        for (const Limit& limit : e.options_.limits)
            if (!limit.holds(f, d.cost, d.time, e.base_time_))
                over += std::fabs(std::log(limit.found(f, d.cost, d.time, e.base_time_) / limit.value));
        if (to_target) over += std::max(0.0, std::log(*e.options_.target * d.time / e.base_time_));
        return over;
    }
    [[nodiscard]] double operator()(const Design& d) const {
        // Far above any gain, so that a design within the limits always wins.
        constexpr double kPenalty = 100;
        if (!std::isfinite(d.time)) return std::numeric_limits<double>::max();
        return std::log(d.time) + price * std::log(d.cost) + kPenalty * excess(d);
    }
};

Exploration::Part Exploration::guided(std::uint64_t number, DesignEvaluator::Scratch& scratch,
                                      bool keep_designs) const {
    SearchPart search{*this, scratch, keep_designs, {}, {}, {}, {}};
    Random random{Random{options_.seed}() + number};
    const double last = static_cast<double>(std::max<std::uint64_t>(2, options_.restarts) - 1);
    const double price = 2 * std::pow(static_cast<double>(number) / last, 2);
    const Objective objective{*this, price, options_.target && number % 2 == 1};
    const std::size_t axes = space_.axes.size();
    std::vector<std::uint64_t> strides(axes, 1);
    for (std::size_t i = axes; i-- > 1;) strides[i - 1] = strides[i] * space_.axes[i].values.size();
    Design here = search.look({random.below(space_.size())}).front();
    double value = objective(here);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        const double before = value;
        const std::size_t turn = static_cast<std::size_t>(random.below(std::max<std::size_t>(1, axes)));
        for (std::size_t k = 0; k < axes; ++k) {
            const std::size_t i = (k + turn) % axes;
            const std::uint64_t n = space_.axes[i].values.size(), now = here.index / strides[i] % n;
            const std::uint64_t origin = here.index - now * strides[i];
            std::vector<std::uint64_t> along;
            for (std::uint64_t v = 0; v < n; ++v)
                if (v != now) along.push_back(origin + v * strides[i]);
            for (const Design& d : search.look(along))
                if (const double other = objective(d); other < value) value = other, here = d;
        }
        if (value >= before) break;
    }
    return std::move(search.part);
}

std::uint64_t Exploration::fingerprint() const {
    Mix mix;
    for (const Axis& axis : space_.axes) {
        mix.add(name(axis.resource));
        for (const double v : axis.values) mix.add(v);
    }
    for (const CostItem& item : costs_.items) {
        mix.add(item.share);
        for (const double e : item.exponents) mix.add(e);
    }
    for (const Limit& limit : options_.limits) {
        mix.add(static_cast<std::uint64_t>(limit.what));
        mix.add(static_cast<std::uint64_t>(limit.resource));
        mix.add(static_cast<std::uint64_t>(limit.at_most));
        mix.add(limit.value);
    }
    mix.add(name(search_));
    mix.add(options_.samples);
    mix.add(options_.seed);
    mix.add(options_.restarts);
    mix.add(options_.target.value_or(0));
    // The workload, the machine and the model, by what they give.
    mix.add(evaluator_.machine().id);
    auto scratch = evaluator_.scratch();
    mix.add(base_time_);
    mix.add(evaluator_.time(space_.at(0), scratch));
    mix.add(evaluator_.time(space_.at(space_.size() - 1), scratch));
    return mix.value;
}

}  // namespace gambrel
