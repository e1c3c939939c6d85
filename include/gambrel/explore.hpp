// Many machines side by side: which resource of a GPU to scale, by how much, and in balance with which others.
// Invariant: a design is a set of factors on one starting machine; its mapping and traffic are computed again, and
// equal requests get equal answers however many threads or ranks share the work. It reads no profile and draws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/delta.hpp>
#include <gambrel/roofline.hpp>

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
double base_value(const Machine& machine, const ModelInputs& hardware, Resource resource);
std::string amount_text(Resource resource, double amount);  // "45", "6 MiB", "820 GB/s"
// The numbers of a design, without a machine. SMs are whole.
ModelInputs scaled(ModelInputs hardware, const Factors& factors);
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
Result<Space> parse_space(std::string_view text, const Machine& machine, const ModelInputs& hardware,
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
Result<std::vector<Limit>> parse_limits(std::string_view text, const Machine& machine, const ModelInputs& hardware,
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

struct LayerTime {
    double time = 0;  // s of one run
    Term bound = Term::compute;
    std::array<double, kTerms> exposed{};  // of the time, by what it waits for; sums up to it
    Tile tile;
    std::int32_t ctas_per_sm = 0;
    double l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;
};
struct WorkloadTime {
    double time = 0;                       // s, by weight; infinite if a layer fits on no SM
    std::array<double, kTerms> exposed{};  // of it
    std::vector<double> network_time;      // of one run of each network
    std::vector<LayerTime> layers;
};

// Fills itself in as it meets designs with another number of SMs; safe to use from several threads, each with its own
// Scratch.
class DesignEvaluator {
public:
    class Scratch {
    public:
        ~Scratch();
        Scratch(Scratch&&) noexcept;

    private:
        friend class DesignEvaluator;
        struct State;
        explicit Scratch(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };
    DesignEvaluator(const Machine& machine, const ModelInputs& hardware, Workload workload,
                    Tiles tiles = Tiles::fastest);
    ~DesignEvaluator();
    DesignEvaluator(DesignEvaluator&&) noexcept;

    [[nodiscard]] Scratch scratch() const;
    // Weighted time, nothing allocated.
    double time(const Factors& factors, Scratch& scratch) const;
    [[nodiscard]] WorkloadTime evaluate(const Factors& factors) const;
    [[nodiscard]] const Workload& workload() const;
    [[nodiscard]] const Machine& machine() const;
    [[nodiscard]] const ModelInputs& hardware() const;

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
std::vector<Sensitivity> sensitivities(const DesignEvaluator& evaluator, const Factors& at = {});

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

// Speed-up over two resources, the others as in `around`: rows of the second, columns of the first.
struct ResourceMap {
    Axis x, y;
    std::vector<double> speedup;  // y.values.size() rows of x.values.size()
};
ResourceMap resource_map(const DesignEvaluator& evaluator, const Axis& x, const Axis& y, const Factors& around = {});

// A design that somebody proposes, as opposed to one that a search found.
struct ProposedDesign {
    std::string name, what;
    Factors factors;
};
// Nine designs from more compute alone through more bandwidth alone to balanced ones.
std::vector<ProposedDesign> proposed_designs();

struct EvaluatedDesign {
    std::string name, what;  // "start", "fastest", "option 3"
    Factors factors;
    double cost = 1, speedup = 1;
    WorkloadTime timing;
};

struct ExplorationReport {
    std::string title, machine;
    Machine base;
    ModelInputs hardware;
    Workload workload;
    std::string search;  // "grid of 5,760 designs"; empty if none was made
    std::uint64_t space = 0, evaluated = 0, kept = 0;
    std::optional<double> target;
    std::vector<EvaluatedDesign> designs;  // the start first
    std::vector<Sensitivity> sensitivities;
    std::vector<EvaluatedDesign> front;  // without layers
    std::optional<ResourceMap> map;
};

EvaluatedDesign evaluated_design(const DesignEvaluator& evaluator, const CostTable& costs, std::string name,
                                 std::string what, const Factors& factors, double base_time);
// Of designs that were thought of.
ExplorationReport exploration_report(const DesignEvaluator& evaluator, const CostTable& costs,
                                     std::span<const ProposedDesign> proposed);
// The two resources that `map` names, else the two that matter most to the start.
void add_map(ExplorationReport& report, const DesignEvaluator& evaluator, const Space& space,
             std::span<const Resource> resources);

// Rows that were measured on two GPUs: how many times as fast the second was, and what is predicted of a design that is
// the first with factors to the second's numbers of resources.
struct RatioRow {
    std::string gpu, layer, op;
    double measured = 1;
    double predicted = 1;      // by the kernels that each GPU ran, and the second's host and pairing of instructions
    double factors_alone = 1;  // with the first's
    double by_rule = 1;        // as predicted, by the kernels of the first GPU alone
    double as_itself = 1;      // by the model of the second GPU's own machine
};
struct RatioProof {
    std::string from;
    std::vector<RatioRow> rows;
    std::size_t short_rows = 0;  // left out: host time would be compared, not GPUs
};
// The factors that lead from one machine's resources to another's.
Factors factors_between(const Machine& from, const ModelInputs& a, const Machine& to, const ModelInputs& b);
Result<RatioProof> ratio_proof(const LayerTable& table, const std::string& from, double min_time);

// Every number that a factor scales is labelled assumed; a design of factors 1 is the machine itself.
Machine design_machine(const Machine& machine, const Factors& factors);
// One row for each layer, amounts of all its runs.
Analysis design_analysis(const ExplorationReport& report, const EvaluatedDesign& design);
// The design that a reader is led to: the cheapest that reaches the target, else the fastest. Null: only the start is
// known.
const EvaluatedDesign* recommended_design(const ExplorationReport& report);
// Of each network of the workload, from those of its layers.
std::vector<double> network_elasticities(const ExplorationReport& report, const Sensitivity& sensitivity);

}  // namespace gambrel
