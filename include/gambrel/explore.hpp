// Many machines side by side: which resource of a GPU to scale, by how much, and in balance with which others.
// Invariant: a design is a set of factors on one starting machine; its mapping and traffic are computed anew, and equal
// questions get equal answers however many threads or ranks share the work. It reads no profile and draws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/delta.hpp>

namespace gambrel {

// macs: the multipliers of an SM with the schedulers that feed them; schedulers: more of these for the same
// multipliers. shared, registers: capacities of an SM. shared_bandwidth, l1_bandwidth: of an SM; l2 and dram: of the
// device. clock: of SMs, and of L2 with them.
enum class Resource : std::uint8_t {
    sms,
    macs,
    schedulers,
    clock,
    registers,
    shared,
    shared_bandwidth,
    l1_bandwidth,
    l2_bandwidth,
    l2_capacity,
    dram_bandwidth,
};
inline constexpr std::size_t kResources = 11;
constexpr std::array<Resource, kResources> all_resources() {
    std::array<Resource, kResources> all{};
    for (std::size_t i = 0; i < kResources; ++i) all[i] = static_cast<Resource>(i);
    return all;
}
std::string_view name(Resource resource);  // "l2.bandwidth"
std::optional<Resource> resource_from(std::string_view name);

struct Factors : std::array<double, kResources> {
    Factors() { fill(1.0); }
    using array::operator[];
    double& operator[](Resource r) { return array::operator[](static_cast<std::size_t>(r)); }
    double operator[](Resource r) const { return array::operator[](static_cast<std::size_t>(r)); }
};

// What a factor of 1 is: 30 SMs, 3 MiB, 547 GB/s.
double base_value(const Machine& machine, const Hardware& hardware, Resource resource);
std::string amount_text(Resource resource, double amount);  // "45", "6 MiB", "820 GB/s"
// The numbers of a design, without a machine. SMs are whole.
Hardware scaled(Hardware hardware, const Factors& factors);
// What mapping asks of a machine, as the design has it: SMs, registers, shared memory. All else is the start's.
Machine with_room(Machine machine, const Factors& factors);

struct Axis {
    Resource resource = Resource::sms;
    std::vector<double> values;  // factors, rising, none twice
};
struct Space {
    std::vector<Axis> axes;
    [[nodiscard]] std::uint64_t size() const;             // at most 2^63
    [[nodiscard]] Factors at(std::uint64_t index) const;  // the last axis runs fastest
};
inline constexpr std::size_t kRangePoints = 7;  // of a range that gives no step
// "sms=1:4,l2.capacity={3MiB,6MiB},clock=0.8:1.5:0.1". All faults at once; `where` is named in them.
Result<Space> parse_space(std::string_view text, const Machine& machine, const Hardware& hardware,
                          const std::string& where = "--vary", std::size_t range_points = kRangePoints);

// "cost<=2.0", "speedup>=1.5", "sms<=60": a factor, or an amount with its unit.
struct Limit {
    enum class What : std::uint8_t { cost, speedup, time, resource };
    What what = What::cost;
    Resource resource = Resource::sms;
    bool at_most = true;
    double value = 0;
    [[nodiscard]] double found(const Factors& factors, double cost, double time, double base_time) const;
    [[nodiscard]] bool holds(const Factors& factors, double cost, double time, double base_time) const;
};
Result<std::vector<Limit>> parse_limits(std::string_view text, const Machine& machine, const Hardware& hardware,
                                        const std::string& where = "--limit");

// The cost of a design relative to the start: each item is a share of it that grows with a product of powers.
struct CostItem {
    std::string what, cite;
    double share = 0;
    std::array<double, kResources> exponents{};
};
struct CostTable {
    std::string note;
    std::vector<CostItem> items;
    [[nodiscard]] double operator()(const Factors& factors) const;
};
const CostTable& default_costs();
Result<CostTable> parse_costs(std::string_view json, const std::string& source);
Result<CostTable> load_costs(const std::string& path);

// What is to be run: layers of several networks, each layer once with its repeats.
struct Workload {
    struct Item {
        Layer layer;
        double weight = 1;  // runs: the network's weight times the layer's repeats
        std::size_t network = 0;
    };
    std::vector<std::string> networks;
    std::vector<Item> items;
    void add(const Network& network, double weight = 1, bool convolutions_only = false);
};

// rule: the tile that the library is thought to take, which knows no larger ones. fastest: the known or larger tile
// that fits the design and is predicted fastest.
enum class Tiles : std::uint8_t { rule, fastest };

struct LayerAnswer {
    double time = 0;  // s of one run
    Term bound = Term::compute;
    std::array<double, kTerms> exposed{};  // of the time, by what it waits for; sums up to it
    Tile tile;
    std::int32_t ctas_per_sm = 0;
    double l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;
};
struct Answer {
    double time = 0;                       // s, by weight; infinite if a layer fits on no SM
    std::array<double, kTerms> exposed{};  // of it
    std::vector<double> network_time;      // of one run of each network
    std::vector<LayerAnswer> layers;
};

// Fills itself in as it meets designs with another number of SMs; safe to use from several threads, each with its own
// Scratch.
class Evaluator {
public:
    class Scratch {
    public:
        ~Scratch();
        Scratch(Scratch&&) noexcept;

    private:
        friend class Evaluator;
        struct State;
        explicit Scratch(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };
    Evaluator(const Machine& machine, const Hardware& hardware, Workload workload, Tiles tiles = Tiles::fastest);
    ~Evaluator();
    Evaluator(Evaluator&&) noexcept;

    [[nodiscard]] Scratch scratch() const;
    // Weighted time, nothing allocated.
    double time(const Factors& factors, Scratch& scratch) const;
    [[nodiscard]] Answer answer(const Factors& factors) const;
    [[nodiscard]] const Workload& workload() const;
    [[nodiscard]] const Machine& machine() const;
    [[nodiscard]] const Hardware& hardware() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// ln(speed-up) over ln(factor), for the network and for each layer: 1 where time follows the resource, 0 where it does
// not matter.
struct Sensitivity {
    Resource resource = Resource::sms;
    double elasticity = 0;  // at a tenth more
    double doubled = 1;     // speed-up at twice as much
    std::vector<double> layers;
};
std::vector<Sensitivity> sensitivities(const Evaluator& evaluator, const Factors& at = {});

struct Design {
    std::uint64_t index = 0;  // in the space
    double cost = 1, time = 0;
    bool operator==(const Design&) const = default;
};

enum class Search : std::uint8_t { automatic, grid, random, guided };
std::string_view name(Search search);
std::optional<Search> search_from(std::string_view name);

struct SearchOptions {
    Search search = Search::automatic;
    std::uint64_t samples = 100'000;  // designs of a random search; a grid larger than this is searched guided
    std::uint64_t seed = 1;
    std::vector<Limit> limits;
    std::optional<double> target;  // speed-up that the cheapest design must reach
    std::uint64_t restarts = 64;   // of a guided search
};

// What is known after some of the work, and bounded in size whatever the space: merging is the same in any order.
struct Findings {
    std::uint64_t evaluated = 0, kept = 0;  // kept: within the limits
    std::optional<Design> best;             // fastest within the limits
    std::optional<Design> cheapest;         // that reaches the target within the limits
    std::vector<Design> bins;               // by cost: the fastest of each half per cent
    void add(const Design& design, bool reaches_target);
    void merge(const Findings& other);
    [[nodiscard]] std::vector<Design> front() const;  // none is both dearer and slower than another
};

// Work in parts that anyone can do in any order. Part i of a search is always the same.
class Exploration {
public:
    Exploration(const Evaluator& evaluator, const Space& space, const CostTable& costs, SearchOptions options);
    [[nodiscard]] Search search() const { return search_; }
    [[nodiscard]] std::uint64_t parts() const { return parts_; }
    [[nodiscard]] std::uint64_t designs() const;  // that will be evaluated; of a guided search at most
    struct Part {
        Findings findings;
        std::vector<Design> designs;  // those within the limits, in order, if asked for
    };
    Part run(std::uint64_t part, Evaluator::Scratch& scratch, bool keep_designs) const;
    [[nodiscard]] double base_time() const { return base_time_; }
    [[nodiscard]] const Evaluator& evaluator() const { return evaluator_; }
    [[nodiscard]] const Space& space() const { return space_; }
    [[nodiscard]] const CostTable& costs() const { return costs_; }
    [[nodiscard]] const SearchOptions& options() const { return options_; }
    // The same for the same question and no other: what a file to resume from must have been written for.
    [[nodiscard]] std::uint64_t fingerprint() const;

private:
    struct Walk;
    struct Objective;
    Part guided(std::uint64_t part, Evaluator::Scratch& scratch, bool keep_designs) const;
    const Evaluator& evaluator_;
    const Space& space_;
    const CostTable& costs_;
    SearchOptions options_;
    Search search_;
    std::uint64_t parts_ = 0;
    double base_time_ = 0;
};

// Parts first to last - 1 in all cores of this process (threads 0), or so many; `done` is called in the order of parts,
// from one thread at a time, and ends the run early by returning false.
using PartDone = std::function<bool(std::uint64_t part, const Exploration::Part&)>;
struct PartRange {
    std::uint64_t first = 0, last = 0;
};
void run_parts(const Exploration& exploration, PartRange range, int threads, bool keep_designs, const PartDone& done);

// A search that can go on where it stopped: parts before `next` are in the findings, and their designs in the first
// `bytes` of a file. Also how ranks tell each other what they found.
struct Checkpoint {
    std::uint64_t fingerprint = 0, next = 0, bytes = 0;
    Findings findings;
};
std::string to_text(const Checkpoint& checkpoint);
Result<Checkpoint> checkpoint_from(std::string_view text, const std::string& source);

// Speed-up over two resources, the others as in `around`: rows of the second, columns of the first.
struct ResourceMap {
    Axis x, y;
    std::vector<double> speedup;  // y.values.size() rows of x.values.size()
};
ResourceMap resource_map(const Evaluator& evaluator, const Axis& x, const Axis& y, const Factors& around = {});

// A design that was thought of, not found.
struct Option {
    std::string name, what;
    Factors factors;
};
// Nine options from more compute alone through more bandwidth alone to balanced ones; the table is ours.
std::vector<Option> scaling_options();

}  // namespace gambrel
