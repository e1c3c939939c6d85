// Many machines side by side: which resources of a GPU to scale, and by how much. Invariant: a design is a set of
// factors on one starting machine; its mapping and traffic are computed again, and equal requests get equal answers
// however many threads or ranks share the work. It reads no profile and draws nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/estimate.hpp>
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

// What a factor of 1 is, as the datasheet counts it: 30 SMs, 3 MiB, 547 GB/s.
double base_value(const Machine& machine, const ModelInputs& hardware, Resource resource);
std::string amount_text(Resource resource, double amount);  // "45", "6 MiB", "820 GB/s"

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

// The layers of one or several networks, each layer once with the number of its runs.
struct Workload {
    struct Item {
        Layer layer;
        double weight = 1;  // runs: the network's weight times the layer's repeats
        std::size_t network = 0;
    };
    std::vector<std::string> networks;
    std::vector<Item> items;
    void add(const Network& network, double weight = 1, bool convolutions_only = false);
    void add(const LayerSet& layers, double weight = 1, bool convolutions_only = false);
};

// rule: the tile that the library would take. fastest: the tile that is predicted fastest among those that fit the
// design, which may be larger than any that the library has.
enum class Tiles : std::uint8_t { rule, fastest };

struct LayerTime {
    double time = 0;  // s of one run
    Term bound = Term::compute;
    std::array<double, kTerms> exposed{};  // s, by what the time waits for; sums up to it
    Tile tile;
    std::int32_t ctas_per_sm = 0;
    double flop = 0;  // that its kernel does: fewer than the layer's by Winograd's algorithm
    double l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;
};
struct WorkloadTime {
    double time = 0;                       // s, by weight; infinite if a layer fits on no SM
    std::array<double, kTerms> exposed{};  // s, by weight
    std::vector<double> network_time;      // s of one run of each network
    std::vector<LayerTime> layers;
};

// ln(speed-up) over ln(factor), for the network and for each layer: 1 where time follows the resource, 0 where it does
// not matter.
struct Sensitivity {
    Resource resource = Resource::sms;
    double elasticity = 0;  // at a tenth more
    double doubled = 1;     // speed-up at twice as much
    double half_more = 1;   // speed-up at half as much again
    std::vector<double> layers;
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

// Speed-up over two resources: rows of the second, columns of the first.
struct ResourceMap {
    Axis x, y;
    std::vector<double> speedup;  // y.values.size() rows of x.values.size()
};

// A design that somebody proposes, as opposed to one that a search found.
struct ProposedDesign {
    std::string name, what;
    Factors factors;
};
// Nine designs from more compute alone through more bandwidth alone to balanced ones.
std::vector<ProposedDesign> proposed_designs();

struct EvaluatedDesign {
    std::string name, what;  // "start", "fastest", "cheapest", or the proposed name
    Factors factors;
    double cost = 1, speedup = 1;
    WorkloadTime timing;
};

struct ExplorationReport {
    std::string title, machine;
    Machine base;
    ModelInputs hardware;
    Workload workload;
    // Seconds of the start with the library's tiles, as `gambrel predict` reports it. With Tiles::fastest the start in
    // `designs` may be faster: its tiles are chosen as those of every other design.
    double library_time = 0;
    std::string search;    // "grid"; empty if none was made
    bool partial = false;  // the search was stopped before its end
    std::uint64_t space = 0, evaluated = 0, kept = 0;
    std::optional<double> target;
    std::vector<EvaluatedDesign> designs;  // the start first
    std::vector<Sensitivity> sensitivities;
    std::vector<EvaluatedDesign> front;  // without layers
    std::optional<ResourceMap> map;
};

// The processes that share a run, such as the ranks of mpirun. This class itself is a run of one process. Messages from
// one rank to another arrive in the order in which they were sent. One thread of a process uses its World.
class World {
public:
    struct Message {
        int from = 0;
        std::string text;
    };
    World() = default;
    virtual ~World() = default;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] virtual int rank() const { return 0; }
    [[nodiscard]] virtual int size() const { return 1; }
    [[nodiscard]] virtual int ranks_on_node() const { return 1; }
    // All ranks call gather and broadcast together. Rank 0 gets the texts of all ranks in order, the others nothing.
    virtual std::vector<std::string> gather(std::string_view mine) { return {std::string(mine)}; }
    // The text of rank 0, on every rank.
    virtual std::string broadcast(std::string_view text) { return std::string(text); }
    virtual void send(int /*to*/, std::string_view /*text*/) {}
    virtual std::string receive(int /*from*/) { return {}; }            // waits
    virtual std::optional<Message> received() { return std::nullopt; }  // from any rank, if one has arrived
};
// The same on every rank: empty if all ranks gave the same text, else an error with two that differ. What ranks were
// asked to do is compared with it before they wait for each other.
Errors disagreement(World& world, std::string_view mine);

struct ExploreRequest {
    Machine machine;  // the start
    ModelInputs hardware;
    Workload workload;
    Tiles tiles = Tiles::fastest;
    CostTable costs = default_costs();
    Space space;  // what may be scaled; without axes there is no search
    SearchOptions search;
    std::vector<ProposedDesign> proposed;  // evaluated beside the start if there is no search
    std::vector<Resource> map;             // two resources; empty: the two that matter most among those varied
    std::string designs;                   // a CSV file for every design within the limits; empty: none
    std::string resume;                    // the checkpoint, from which the search resumes if it exists; empty: none
    std::vector<std::string> inputs;       // files that `designs` and `resume` must not replace
    bool force = false;                    // they may replace files that gambrel did not write
    int threads = 0;                       // 0: all cores, shared between the ranks of a node
    std::function<bool()> stop;            // asked often; true ends the search and makes the report partial
    std::function<void(double fraction, std::string_view doing)> progress;
};
// All ranks of the world share the work. They must be given the same request, and get the same report.
Result<ExplorationReport> explore(const ExploreRequest& request, World& world);
Result<ExplorationReport> explore(const ExploreRequest& request);  // in this process alone

// One layer measured on two GPUs: the measured speed-up of the second over the first, and the predicted ones. "The
// design" is the first GPU with the factors that give it the second's resources.
struct RatioRow {
    std::string gpu, layer, op;
    double measured = 1;
    double predicted =
        1;  // the design with the kernel that the second GPU ran, its host and its pairing of instructions
    double factors_alone = 1;  // the same with the host and the pairing of the first GPU
    double by_rule = 1;        // as `predicted`, with the kernel that the first GPU ran
    double as_itself = 1;      // the second GPU's own machine instead of the design
};
struct RatioProof {
    std::string from;
    std::vector<RatioRow> rows;
    std::size_t short_rows = 0;  // left out: host time would be compared, not GPUs
};
// The factors that lead from one machine's resources to another's.
Factors factors_between(const Machine& from, const ModelInputs& a, const Machine& to, const ModelInputs& b);
// Two GPUs that share shapes in a table: the mean error of the ratio of their times, by the model with each GPU's own
// machine, and by a Roofline of peaks, which needs no model.
struct GpuPair {
    std::string from, to, kind;  // of operator and precision, "gemm bf16"
    std::size_t rows = 0;
    double error = 0, roofline_error = 0;  // mean |predicted ratio / measured ratio - 1|
};
inline constexpr std::size_t kFewestShared = 20;  // rows, below which a pair is left out
// With `host_drift` what the host of a framework takes longer with every row is added, where the rows tell it: see
// HostDrift.
std::vector<GpuPair> gpu_pairs(const LayerTable& table, double min_time, bool host_drift = false);
Result<RatioProof> ratio_proof(const LayerTable& table, const std::string& from, double min_time);

// Every number that a factor scales is labelled assumed; a design of factors 1 is the machine itself.
Machine design_machine(const Machine& machine, const Factors& factors);
// One row for each layer, amounts of all its runs.
Analysis design_analysis(const ExplorationReport& report, const EvaluatedDesign& design);
// The cheapest design that reaches the target, else the fastest. Null: only the start is known.
const EvaluatedDesign* recommended_design(const ExplorationReport& report);
// False if a search kept no design, or a target was given and none reaches it.
bool found_what_was_asked(const ExplorationReport& report);
// The elasticity of each network of the workload, from those of its layers.
std::vector<double> network_elasticities(const ExplorationReport& report, const Sensitivity& sensitivity);

}  // namespace gambrel
