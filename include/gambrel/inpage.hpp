// The model as a page runs it: layers and machines as plain numbers that a page can hold, and a model that evaluates
// them for a machine with some of its resources scaled. The same code is compiled for this library and, as WebAssembly,
// for the page (web/model), so that both give the same numbers. Reads no file and draws nothing.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gambrel/delta.hpp>
#include <gambrel/kernel.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/network.hpp>
#include <gambrel/roofline.hpp>

namespace gambrel {

// Everything of a layer or machine that mapping, model and verdict use; absent numbers are NaN. Names, citations and
// notes are left out. Nothing comes back from numbers that another version wrote.
std::vector<double> numbers_of(const Layer& layer);
std::vector<double> numbers_of(const Machine& machine);
// Without the text of its configuration, which a page keeps as text.
std::vector<double> numbers_of(const NetworkRecipe& recipe);
std::optional<Layer> layer_from_numbers(std::span<const double> numbers);
std::optional<Machine> machine_from_numbers(std::span<const double> numbers);
std::optional<NetworkRecipe> recipe_from_numbers(std::span<const double> numbers);

// What the sliders of a page scale. `clock` is that of the SMs and of L2 with them; `tensor` the rate of the Tensor
// Cores alone; SMs are rounded to whole ones.
struct DesignFactors {
    double sms = 1, clock = 1, tensor = 1, l2_capacity = 1, l2_bandwidth = 1, dram_bandwidth = 1;
};
inline constexpr std::size_t kDesignFactors = 6;
ModelInputs scaled_inputs(ModelInputs inputs, const DesignFactors& factors);

// The roofs of a machine; 0 where it has none.
struct RoofSet {
    PerPipe<FlopRate> pipes{};
    PerLevel<Bandwidth> levels{};
};
RoofSet scaled_roofs(const Machine& machine, std::optional<Frequency> clock, Roofs roofs, const DesignFactors& factors);

// The layer of a batch `factor` times as large. Nothing where a dimension would not be whole, or where the layer does
// not say which of its dimensions grows with the batch.
std::optional<Layer> with_batch(const Layer& layer, double factor);

// The layer as it would be on a GPU of another compute capability. The kernel that a row or a trace names is one of the
// GPU that it ran on: elsewhere the library chooses again. What a measured time is of stays.
Layer without_kernel(const Layer& layer);

// What is computed. 0 and absent: as the page has it. Batch, sequence and context are those of a recipe; layers without
// one can only be multiplied.
struct LiveWork {
    double batch_factor = 1;
    std::int64_t batch = 0, sequence = 0, context = 0;
    std::optional<Precision> precision = {};
    bool operator==(const LiveWork&) const = default;
};
// What it comes to beside time: tokens of a transformer or samples of another network; 0: unknown.
struct LiveRun {
    double tokens = 0, samples = 0;
    Bytes memory, capacity;  // of the GPU
};

// Why a layer has no numbers on a machine.
enum class Refusal : std::uint8_t { none, no_arithmetic, memory, launch, machine, batch, network };

// One layer, all its runs. `work` is done by `pipe`.
struct LiveLayer {
    Refusal refusal = Refusal::none;
    Seconds time, time_low, time_high;
    Flops work;
    Bytes l1, l2, dram;
    Term waits_for = Term::compute;
    Pipe pipe = Pipe::fp32;
    Bound nearest;     // the roof that is nearest
    Bound bound;       // what holds it up, which is no roof if none is near
    Seconds shortest;  // by the nearest roof
    Frequency clock;
    Tile tile;  // 0: it has none
};

class LiveModel {
public:
    // `near`: below this share of every roof, none of them is what holds a layer up (near_roof()).
    explicit LiveModel(Roofs roofs = Roofs::measured, double near = 0) : roofs_(roofs), near_(near) {}
    void add_machine(Machine machine) { machines_.push_back(std::move(machine)); }
    // `clock`: that the row or the command gave; it holds on `machine`, not on another.
    void add_layer(Layer layer, std::size_t machine, std::optional<Frequency> clock);
    // Instead of layers: all of them on `machine`. False, and nothing is kept, if it makes no network.
    bool set_recipe(NetworkRecipe recipe, std::size_t machine, std::optional<Frequency> clock);
    // As the last evaluation had them.
    [[nodiscard]] std::size_t layers() const { return current_.size(); }
    [[nodiscard]] const Layer& layer(std::size_t i) const { return current_[i].layer; }
    [[nodiscard]] LiveRun run(std::optional<std::size_t> machine) const;
    [[nodiscard]] std::size_t machines() const { return machines_.size(); }
    // All layers on `machine`; nothing: each on its own.
    const std::vector<LiveLayer>& evaluate(const DesignFactors& factors, const LiveWork& work = {},
                                           std::optional<std::size_t> machine = {});
    // Of a machine at the clock that the model takes for it, or that layers on it were given.
    RoofSet roofs(std::size_t machine, Roofs roofs, const DesignFactors& factors);
    // The same machine and clock; null if a number is missing that the model needs.
    const ModelInputs* inputs(std::size_t machine);

private:
    struct PlacedLayer {
        Layer layer;
        std::size_t machine = 0;
        double clock = 0;  // Hz; 0: the machine's own
        Refusal refusal = Refusal::none;
    };
    // A machine at one clock, and what the evaluation at work makes of it.
    struct Target {
        std::size_t machine = 0;
        double clock = 0;
        std::optional<ModelInputs> inputs;
        ModelInputs scaled;
        Machine mapped;
        RoofSet roofs;
        std::uint64_t evaluation = 0;
    };
    Target& known(std::size_t machine, double clock);
    const Target& as_placed(std::size_t machine);  // at the clock of the first layer that was given one on it
    const Target& target(std::size_t machine, double clock, const DesignFactors& factors);
    [[nodiscard]] LiveLayer evaluated(const Layer& layer, const Target& on) const;
    void judge(LiveLayer& layer, const Target& on, double ctas) const;
    void change(const LiveWork& work);
    [[nodiscard]] bool is_foreign(const PlacedLayer& layer, std::size_t machine) const;
    Roofs roofs_;
    double near_ = 0;
    std::vector<Machine> machines_;
    std::vector<PlacedLayer> layers_;
    std::deque<Target> targets_;  // references stay valid
    std::optional<NetworkRecipe> recipe_;
    std::optional<ModelRun> model_run_;
    std::vector<PlacedLayer> current_;  // layers_ as the last work has them
    LiveWork work_;
    bool stale_ = true;
    std::uint64_t evaluation_ = 0;
    std::vector<LiveLayer> out_;
};

}  // namespace gambrel
