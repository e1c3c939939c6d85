// The closed-form model of a layer on a GPU: bytes at L1, L2 and DRAM and time, after DeLTA (arXiv 1904.01691) and
// beyond it. In two stages: prepare a layer and its mapping once, then evaluate on the numbers of any GPU. Pure: reads
// no file, prints nothing, allocates nothing for a prediction. docs/model has the equations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gambrel/machine.hpp>
#include <gambrel/mapping.hpp>
#include <gambrel/network.hpp>

namespace gambrel {

// paper: the equations of arXiv 1904.01691 as far as they could be reconstructed. gambrel: this project's model.
enum class Model : std::uint8_t { paper, gambrel };
std::string_view name(Model model);

// Kinds of layers whose residuals differ; intervals are learned for each.
enum class Regime : std::uint8_t {
    many_waves,  // this and the next three: implicit GEMMs of convolutions on CUDA cores
    few_waves,
    one_wave,
    short_reduction,
    product_many_waves,  // this and the next three: matrix products on CUDA cores
    product_few_waves,
    product_one_wave,
    product_short_reduction,
    winograd,  // in one kernel
    winograd_separate,
    fourier,
    groups_in_turn,  // a kernel or more for each group of a convolution
    tensor_core,     // convolutions
    tensor_gemm,
    narrow_gemm,  // products of less than 16 bits
    direct,       // convolutions without tiles: depthwise, or of few channels
    streaming,    // element by element
    rows,         // norms, softmax, look-ups and the like, row by row
    attention,
    attention_decode,
    experts,
};
inline constexpr std::size_t kRegimes = 21;
std::string_view name(Regime regime);
// 80 % interval (p10 to p90) of measured over predicted times in a regime; data/model/intervals.json.
struct TimeInterval {
    double low = 1, high = 1;
};
using IntervalTable = std::array<TimeInterval, kRegimes>;
// By architecture where its rows were learned from, else by regime alone.
const IntervalTable& time_intervals(const Architecture& architecture);

// The numbers of a machine that the model needs, at one clock: taken out once, used for any number of layers.
struct ModelInputs {
    Frequency clock;  // of the SMs
    double sms = 0, schedulers = 0;
    PerPipe<FlopPerCycle> flop_per_cycle{};  // of an SM; 0: the machine has no such pipe
    BytesPerCycle shared_width, l1_width;    // of an SM
    Bandwidth l2_bandwidth, dram_bandwidth;
    double l2_lookups =
        1;  // bytes that its slices can look up, over l2_bandwidth: lookups between its halves come on top
    Cycles l1_latency, l2_latency, dram_latency;
    Bytes l2_capacity;
    double l2_copies = 1;  // partitions of L2 that each keep a copy of what their SMs read
    // Products on CUDA cores: their clock in a short kernel over `clock`, and the FLOP that the board's power feeds in
    // a second while they last; 0: it holds its clock.
    double burst = 1;
    FlopRate fed;
    // Tensor Cores: what the board's power feeds of a product; and the clock over `clock` while all of them are busy,
    // for kernels whose energy is not counted.
    MatrixPower matrix_power;
    double matrix_clock = 1;
    double gemm_dram = 1;               // share of dram_bandwidth that the operands of a product on Tensor Cores reach
    bool fills_partial_writes = false;  // writing a part of a sector takes the time in which L2 would read it
    double check_bits = 0;              // share of DRAM's bytes that are check bits, where they lie in the same memory
    Seconds launch;                     // from one kernel's end to the next one's start
    SmLimits limits;                    // of the machine as it is
    Bandwidth link;                     // to the other GPUs of a node, in one direction; 0: unknown
    const Architecture* architecture = nullptr;
    const Calibration* calibration = nullptr;
    // That any SM's data can use.
    [[nodiscard]] Bytes usable_l2() const { return l2_capacity / l2_copies; }
    [[nodiscard]] BytesPerCycle l1_width_of_all() const { return l1_width * sms; }
};
// An error names every number that is missing and that nothing can be assumed for; assumptions(machine) lists the rest.
Result<ModelInputs> model_inputs(const Machine& machine, std::optional<Frequency> clock = {},
                                 Roofs roofs = Roofs::measured);

// Bytes by operand: A and B as the GEMM reads them, C as it writes it (with the partial sums of split-K, read and
// written).
struct OperandTraffic {
    Bytes a, b, c;
    [[nodiscard]] Bytes total() const { return a + b + c; }
    OperandTraffic& operator*=(double factor) { return a *= factor, b *= factor, c *= factor, *this; }
};
struct Traffic {
    OperandTraffic shared, l1, l2, dram;
    double reads_of_a = 1, reads_of_b = 1;  // how many times each comes from DRAM
    // DRAM bytes that an unevenly filled last wave reads again. They count as traffic, not as time: DRAM is idle then.
    // Never more than it can give in the kernel's time.
    OperandTraffic dram_uneven;
    // Sectors of which a store writes a part. L2 reads them where check bits lie beside the data (filled: of dram.c);
    // elsewhere further stores complete them in L2, which takes as long but moves nothing.
    Bytes filled, completed;
    Bytes beside;  // of dram.a: what DRAM sends beside the sectors that were asked for
    // Shares of the bytes asked for.
    [[nodiscard]] double l1_hit() const { return hit(l1.total(), l2.total()); }
    [[nodiscard]] double l2_hit() const { return hit(l2.total(), dram.total() - filled - beside); }
    // `l2` is what SMs ask of L2, `dram` what moves in a stream of kernels. A profiler's counters of one kernel see
    // something else where L2 has two halves: lookups in the other half, and not what the kernel leaves in L2.
    OperandTraffic l2_crossing;
    Bytes l2_fetched;  // instructions and constants
    Bytes left_in_l2;
    [[nodiscard]] Bytes counted_l2() const { return l2.total() + l2_crossing.total() + l2_fetched; }
    [[nodiscard]] Bytes counted_dram() const { return dram.total() - left_in_l2; }

private:
    static double hit(Bytes asked, Bytes missed) { return asked > Bytes{} ? std::max(0.0, 1 - missed / asked) : 0; }
};

// What a prediction waits for. `issue` is the warp schedulers, `latency` too few warps to fill them.
enum class Term : std::uint8_t { compute, issue, latency, shared, l1, l2, dram, launch, link };
inline constexpr std::size_t kTerms = 9;
std::string_view name(Term term);

// Number: double, or those of several designs (placement.hpp).
template <class Number>
struct BasicPerTerm : std::array<Quantity<0, 0, 1, 0, Number>, kTerms> {
    using Time = Quantity<0, 0, 1, 0, Number>;
    using std::array<Time, kTerms>::operator[];
    Time operator[](Term t) const { return (*this)[static_cast<std::size_t>(t)]; }
    Time& operator[](Term t) { return (*this)[static_cast<std::size_t>(t)]; }
};
using PerTerm = BasicPerTerm<double>;

template <class Number>
struct BasicTimeTerms {
    using Time = Quantity<0, 0, 1, 0, Number>;
    BasicPerTerm<Number> seconds;  // the time that each would take were it alone
    Time prologue, epilogue;       // not hidden by other CTAs
    Time staged;                   // of latency: outputs pass shared memory, and nothing is multiplied
    double waves = 0;              // CTAs over those that fit at once
    Number tail = 1;               // time over what an even share of the CTAs would take
    Time operator[](Term t) const { return seconds[t]; }
    Time& operator[](Term t) { return seconds[t]; }
};
using TimeTerms = BasicTimeTerms<double>;

// Bytes and time, which is all that a table shows.
struct TimedTraffic {
    Traffic traffic;
    TimeTerms terms;
    Seconds time;
    Term bound = Term::compute;
};
struct Prediction : TimedTraffic {
    Model model = Model::gambrel;
    Mapping mapping;
    Occupancy occupancy;
    Grid grid;
    Flops flop;
    PerTerm exposed;  // the time by what it waits for; sums up to it
    Regime regime = Regime::many_waves;
};

// What all CTAs ask of an operand, and how many bytes a memory of 32-byte sectors moves for a byte that is asked for.
struct OperandAccess {
    double elements = 0;           // asked for by all CTAs; padding is not loaded
    Bytes unique;                  // that are touched at all
    double overfetch_request = 1;  // each request by itself
    double overfetch_step = 1;     // with what one CTA asks for in one k-step merged
    double overfetch_cta = 1;      // with what one CTA asks for in all its steps merged
    Bytes pitch;       // of a product's operand, or of NHWC pixels on Tensor Cores, along k: from one row to the next
    double lines = 0;  // that a warp's threads meet where each loads one element from another place; 0: they load runs
    // Where a strided layer skips rows of an image: the bytes of a run of rows that it reads, and from one to the next.
    Bytes run, run_pitch;
};
// Kernels of a call beside the main one, that write and read workspaces: bytes at each level, and of these what each
// kernel, the main one too, writes for the next to read.
struct TransformTraffic {
    OperandTraffic l1, l2, dram;
    std::array<Bytes, 3> handed_on{};
    double turns = 1;        // in which the kernels run one after the other, each turn with a part of the outputs
    double filter_work = 1;  // of the transform of a filter, which is mostly zeros, over that of a tile
};
struct Geometry {
    double m = 0, n = 0, k = 0, batch = 1;
    Bytes element{4}, stored{4};  // of operands and of the result
    Bytes output_element{4};      // of what the epilogue writes
    OperandAccess a, b;
    double output = 0;        // elements
    Bytes bias, unique_bias;  // loaded by all CTAs together; of the vector. Counted with B, as both are parameters
    Bytes offsets;            // of precomputed addresses, asked of L1 by all CTAs; they stay there
    Bytes rewritten;          // of what the epilogue moves, stored over what the kernel has read
    Bytes read_back;          // of what the epilogue moves, read
    Bytes read_once;          // of the output, from DRAM before it is written
    Bytes stored_in_part;     // of the output, in sectors of which one store of a warp writes a part
    Bytes written;            // the layer's output, which is not what the main kernel writes where transforms follow it
    TransformTraffic transforms;
    double taps = 1, taps_h = 1;
    Bytes image;         // that a direct kernel reads for one filter after the other, with the outputs of one of them
    Bytes tap_distance;  // of a filter gradient: of one input column between a row of taps and the next
};

// A layer and its mapping with everything that no number of a GPU changes.
struct PreparedLayer {
    Mapping mapping;
    Flops flop;
    Grid grid;  // this and what follows: of one group, where groups are launched one after another
    Geometry geometry;
    double groups = 1;
    OperandTraffic shared, l1;
    OperandTraffic l2, dram;         // of layers without tiles, whose traffic no cache changes
    double waits_in_turn = 0;        // of such layers: how often a CTA waits for memory, one time after the other
    double plane = 0, tap_rows = 0;  // of depthwise layers: outputs of an image and channel, rows of a filter
    bool gemm = false;
    // Of layers without tiles, whose work depends on the GPU: what mapping and shape do not say yet.
    std::variant<std::monostate, Streaming, Attention, MixtureOfExperts, AllReduce> op;
    Pass pass = Pass::fwd;
    Precision precision = Precision::fp32, weights = Precision::fp32;
    std::optional<Timing> timing;  // what a measured time of this row would be of
    bool cold = false;             // nothing is in L2 before it, whatever its timing
    bool profiled = false;         // it starts with empty caches of instructions, too
    Bytes quantized;  // read and written to make narrow numbers of a wider input, where the time includes that
    double rows_of_one_scale = 0;  // of that input, where one scale is for all of it
    Seconds host;                  // of its launch, and the bytes that the GPU writes meanwhile
    Bytes host_ahead;
};
PreparedLayer prepare(const Layer& layer, const Mapping& mapping);
// What a measured time of a row is of, where its hints say or imply it.
std::optional<Timing> timing_of(const Hints& hints);
Prediction predict(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs);
// That prediction without the rest of it, for long tables.
TimedTraffic timed_traffic(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs);
// The time of that prediction alone: equal to the last bit, and cheaper. Searches over many designs are in
// placement.hpp.
Seconds predicted_time(const PreparedLayer& layer, const Occupancy& occupancy, const ModelInputs& inputs);

// A layer whose algorithm is kFastestAlgorithm by the one that is predicted fastest; any other layer as it is.
Layer by_fastest_algorithm(const Layer& layer, const Machine& machine, const ModelInputs& inputs);

// Both stages at once, and the only way to the paper's model.
Prediction predict(const Layer& layer, const Mapping& mapping, const Occupancy& occupancy, const ModelInputs& inputs,
                   Model model = Model::gambrel);
// By mapping_for; with `search` the known tile that is predicted fastest.
Prediction predict(const Layer& layer, const Machine& machine, const ModelInputs& inputs, Model model = Model::gambrel,
                   bool search = false);

// A prediction as equations, each computed beside the code that evaluates it: `result` is what `combine` makes of the
// operands. `given`: no operands; the meaning says where the number comes from.
struct ExplainedLine {
    using Value = std::variant<double, Bytes, Flops, Seconds, Cycles, Bandwidth, Frequency>;
    enum class Combine : std::uint8_t { given, product, sum, maximum };
    struct Operand {
        std::string_view what;
        Value value;
        bool divides = false;  // of a product
    };
    std::string name, meaning;
    Combine combine = Combine::given;
    std::vector<Operand> operands;
    Value result;
};
std::vector<ExplainedLine> explain(const Layer& layer, const Prediction& prediction, const ModelInputs& inputs);

}  // namespace gambrel
