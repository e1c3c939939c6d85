// What a layer would do on a machine, by the closed-form model or by simulating every address: the one way from layers
// to a Run, which predict, simulate, validate and compare share. A layer's own GPU and clock win over those of the
// options. Invariant: every Estimate says how it was made, and its Kernel carries that origin. Formats nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/delta.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/mapping.hpp>
#include <gambrel/network.hpp>
#include <gambrel/sim.hpp>

namespace gambrel {

// model: ours. paper: the equations of arXiv 1904.01691. simulation: bytes by simulation, and no time but that of the
// roofs.
enum class Method : std::uint8_t { model, paper, simulation };
std::string_view name(Method method);  // "gambrel", "paper", "simulation"
Origin origin(Method method);

struct EstimatorOptions {
    Method method = Method::model;
    std::optional<Machine> machine = {};  // of layers that name no GPU
    std::optional<Frequency> clock = {};  // of layers that give none; else the machine's boost clock
    Roofs roofs = Roofs::measured;
    bool search = false;             // the fastest known tile instead of the one that the library is thought to take
    std::optional<Tile> tile = {};   // for all layers
    Seconds host_gap;                // that the host takes to launch an operator of a network; 0: never waited for
    SimulationOptions simulation{};  // of Method::simulation
};

// A machine and what is taken from it once for all layers, at one clock.
struct EstimatedMachine {
    EstimatedMachine(std::size_t number, const Machine& machine, const ModelInputs& inputs);
    std::size_t number = 0;  // of those that its Estimator met before it
    Machine machine;
    ModelInputs inputs;
    std::array<bool, kPrecisions> plain{};  // computes_plainly(), by precision
    Bytes memory;                           // capacity of DRAM; 0: unknown
};

struct Interval {
    Seconds low, high;
};

struct Estimate {
    const Layer* layer = nullptr;        // the caller's, or `found`
    std::shared_ptr<const Layer> found;  // the layer by the algorithm that the model chose for kFastestAlgorithm
    std::shared_ptr<const EstimatedMachine> on;
    Mapping mapping;
    Kernel kernel;                     // of one run of the layer
    std::optional<Interval> interval;  // 80 % interval of the time (p10 to p90 of measured times in this regime)
    std::string bound;                 // what the time waits for
    std::variant<Prediction, Simulation> detail;

    // CTAs over those that fit at once; 0 if unknown.
    [[nodiscard]] double waves() const;
};

// What a table shows of an estimate, or of the estimates of one row together: amounts are sums, tile and bound those of
// the first.
struct Figures {
    const EstimatedMachine* on = nullptr;  // the estimate's, or one of those that the Estimator keeps
    Tile tile;                             // 0 where the kernel has none
    Flops flop;
    Bytes l1, l2, dram;
    Seconds time;            // 0: unknown
    std::string_view bound;  // what the time waits for; lives as long as the estimate
    std::string reason;      // why a figure is not to be trusted; empty: nothing is known against it
    Figures& operator+=(const Figures& next);
};
Figures figures(const Estimate& estimate);

// How a layer is run, before its traffic and time are known.
struct PlannedLayer {
    const Layer* layer = nullptr;        // the caller's, or `found`
    std::shared_ptr<const Layer> found;  // as in Estimate
    std::shared_ptr<const EstimatedMachine> on;
    Mapping mapping;
    Occupancy fits;
    std::string note;
};

// Keeps the last 256 machines that it has met, so that a row costs no search. Layers must outlive their estimates.
class Estimator {
public:
    explicit Estimator(EstimatorOptions options) : options_(std::move(options)) {}
    // Refuses what cannot be: an unknown GPU, a precision that it does not have, operands larger than its memory, a
    // tile that no SM can hold.
    Result<Estimate> operator()(const Layer& layer);
    Result<Estimate> operator()(Layer&& layer) = delete;
    // The figures of that estimate without the rest of it, for long tables. Not by simulation.
    Result<Figures> figures(const Layer& layer);
    // The same in two steps, so that many layers can go through each of them together: the code of both is more than a
    // core's first cache holds. Each overwrites its last argument and says what is wrong, if anything is.
    Errors plan(const Layer& layer, PlannedLayer& planned);
    Errors figures(const PlannedLayer& planned, Figures& shown) const;
    [[nodiscard]] const EstimatorOptions& options() const { return options_; }
    void set_simulation(SimulationOptions options) { options_.simulation = std::move(options); }

private:
    // Where every row has a clock of its own, the machines of rows long past would fill the memory.
    static constexpr std::size_t kMostKnown = 256;
    using SharedMachine = std::shared_ptr<const EstimatedMachine>;
    Result<const SharedMachine*> machine_for(const Layer& layer);
    // Why a machine cannot run a layer; else `note` says where it computes in another precision or at another clock.
    Errors note_of(const Layer& layer, const EstimatedMachine& on, std::string& note) const;
    [[nodiscard]] std::shared_ptr<const Layer> layer_by_algorithm(const Layer& layer, const EstimatedMachine& on) const;
    [[nodiscard]] Mapping mapping_of(const Layer& layer, const EstimatedMachine& on) const;
    [[nodiscard]] bool searches_tile() const { return options_.search && !options_.tile; }
    [[nodiscard]] Result<Prediction> predicted(const Layer& layer, const EstimatedMachine& on) const;
    EstimatorOptions options_;
    struct KnownMachine {
        double clock = 0;  // below 0: which one was asked for
        std::string gpu;
        SharedMachine on;
    };
    std::vector<KnownMachine> known_;  // the oldest is replaced
    std::size_t met_ = 0;              // machines, with those that are forgotten
};

// Layers to be estimated: a table, whose rows are kept as they are, or a network, whose equal layers are merged
// unless they are asked for in order.
struct LayerSet {
    std::string title;
    std::optional<LayerTable> table;
    std::optional<Network> network;
    std::optional<NetworkRecipe> recipe = {};  // that made the network, where it came from no file of layers
    Errors notes;
    [[nodiscard]] std::vector<Layer> layers() const;
};
struct LayerRequest {
    std::string network, table;  // one of the two: a built-in name or an .onnx file, or a path of a layer table
    std::int64_t batch = 0, sequence = 0;  // 0: as the network has it
    std::vector<NamedShape> shapes = {};   // of an .onnx file's inputs
    std::optional<Precision> precision = {};
    std::optional<Layout> layout = {};
    std::optional<Pass> pass = {};  // that pass alone
    bool training = false;          // all three passes
    // Of transformers that come from a configuration; nothing where the flag was not given.
    std::optional<Phase> phase = {};
    std::int64_t context = 0, tensor_parallel = 0;
    bool fused = true;
    std::optional<Precision> kv_precision = {};
    bool in_order = false;           // every layer as it runs; otherwise layers that are equal are one, with a count
    bool fastest_algorithm = false;  // of a network's convolutions, as NetworkRecipe has it
};
// What is asked for and would change nothing: sizes and passes of a table, whose rows have their own, options of
// transformers for other networks. load_layers refuses such a request.
Errors without_effect(const LayerRequest& request);
Result<LayerSet> load_layers(const LayerRequest& request);

// One row of a table or one layer of a network; no estimates where there is a reason, two for a whole backward pass.
struct EstimatedRow {
    const LayerRow* source = nullptr;
    std::vector<Estimate> estimates;
    std::string reason;
};
// What a run of a transformer comes to on one GPU of its group.
struct ModelSummary {
    Phase phase = Phase::prefill;
    Seconds time;                   // of a step: all prompts, one token of every sequence, one training step
    double tokens_per_s = 0;        // of the whole batch
    Seconds time_to_first_token;    // prefill alone: of one batch of prompts
    Seconds time_per_output_token;  // decode alone
    Bytes memory, weights, kv_cache, activations, capacity;
    bool fits = true;
    std::int64_t batch = 1, largest_batch = 0;  // that fits; 0: not even one sequence
    std::string bound;                          // what most of the time waits for
};
struct Estimates {
    std::shared_ptr<const LayerSet> layers;
    EstimatorOptions options;
    std::vector<EstimatedRow> rows;
    bool partial = false;                 // stopped before the end; rows that are missing were not estimated
    bool fits = true;                     // false: the network needs more memory than the machine has
    std::optional<ModelSummary> summary;  // of a transformer from its configuration
    Seconds host;                         // of all launches, where a gap is given: the network takes no less
    Errors notes;
    std::string refused = {};                   // why the machine cannot run the layers, of estimate_each: no rows then
    [[nodiscard]] std::string machine() const;  // its name, or that each row has its own
    [[nodiscard]] Seconds gpu_time() const;     // of all layers, as often as they run
    [[nodiscard]] Seconds time() const;         // the host's where that is longer: launches do not wait for kernels
};
// Called with the share that is done and the layer at work; returning false stops.
using EstimateProgress = std::function<bool(double done, const std::string& layer)>;
// One bad row of a table is a row with a reason. Fails if no row could be estimated, or not every layer of a network.
Result<Estimates> estimate(std::shared_ptr<const LayerSet> layers, const EstimatorOptions& options,
                           const EstimateProgress& progress = {});
// The same layers by each of the options, such as on several machines. A machine that cannot run them, because it lacks
// their precision or its memory is too small, is `refused`; fails if all are, with the reason of each.
Result<std::vector<Estimates>> estimate_each(const std::shared_ptr<const LayerSet>& layers,
                                             std::span<const EstimatorOptions> options);

// The rows of a table as they are read: nothing of a row is kept. `cells` and what a row points to are valid until the
// next one.
struct StreamedRow {
    std::span<const std::string_view> cells;
    std::string_view text;             // LayerTableReader::canonical_text()
    const Figures* figures = nullptr;  // null: there is none, and `reason` says why
    std::string_view reason;
};
struct StreamedTable {
    bool stopped = false;  // before the end of the table
    Errors notes;
};
// The same rows, reasons and notes as estimate() gives for the whole table. `take` stops it by returning false. Fails
// if no row could be estimated, when `take` has been given the reasons only, and if the table cannot be read to its
// end.
Result<StreamedTable> estimate_rows(LayerTableReader& table, const std::string& title, const EstimatorOptions& options,
                                    const std::function<bool(const StreamedRow&)>& take);

// The same layers on several GPUs: which is fastest, and what makes the difference. Those that hold the network come
// before those that do not.
struct GpuRanking {
    struct Slower {
        std::size_t index = 0;
        double ratio = 1;  // its time over that of the fastest
        Term because = Term::compute;
        Seconds longer;          // that it waits for it than the fastest does; 0: no wait is longer
        Pipe pipe = Pipe::fp32;  // that most of its computing time is of
        double resource = 0,
               best = 0;  // what it has of what it waits for, and what the fastest has: base units; 0: none
    };
    std::size_t fastest = 0;
    Seconds time;
    std::vector<Slower> slower;  // by rising time
};
// Machines that were refused are left out. Nothing where fewer than two have a time, or where one was simulated.
std::optional<GpuRanking> gpu_ranking(std::span<const Estimates> each);

// As any other source gives it: one kernel for each estimate, of all runs of its layer.
Run to_run(const Estimates& estimates);

// Where a framework's host takes longer for every shape that it has called before, times grow from the first row of a
// table to its last by more than their kernels do. No model of kernels can tell; the order of the rows can.
struct TimedCall {
    double place = 0;  // from 0, the first call of a run, to 1, its last
    Seconds measured, predicted;
};
struct HostDrift {
    Seconds first, last;  // host time of the first and the last call beside what was predicted
    [[nodiscard]] Seconds at(double place) const { return first + (last - first) * place; }
};
// The line with the least mean |predicted / measured - 1|. Nothing from fewer than a hundred calls, or where it lowers
// that error by less than a fifth: then the order of the rows says nothing.
std::optional<HostDrift> host_drift(std::span<const TimedCall> calls);

// Why an algorithm or kernel is not what the model describes; empty if it is.
std::string not_modelled(const Layer& layer);
// The least memory that a network needs: its parameters (with gradients if it is trained) and the largest layer's
// operands, or every output that the backward pass must find.
Bytes least_memory(const Network& network);

}  // namespace gambrel
