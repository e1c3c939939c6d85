// Networks of layers: readers (ONNX, layer tables, model configurations) and the built-in ones. Invariant: a Layer that
// a reader or a built-in network gives has no faults().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/layer.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

// An operator of a file that has no layer here, or whose shapes could not be known.
struct Unmodelled {
    std::string op;      // "NonMaxSuppression"; with its domain where that is not ONNX's own
    std::string reason;  // why
    std::string first;   // the first node of this kind
    std::int64_t count = 0;
    Bytes bytes;                      // of its tensors whose shapes are known, each once
    std::int64_t unknown_shapes = 0;  // tensors that `bytes` lacks
};

struct NamedShape {
    std::string name;
    std::vector<std::int64_t> dims;
};

// What a transformer is run for. prefill: all positions of the prompt at once. decode: one new position of every
// sequence, with a cache of those before it. train: forward, backward and the optimizer's step.
enum class Phase : std::uint8_t { prefill, decode, train };
std::string_view name(Phase phase);
std::optional<Phase> phase_from(std::string_view text);

// A run of a transformer on one of its GPUs: how much it works on, and what must lie in that GPU's memory.
struct ModelRun {
    Phase phase = Phase::prefill;
    std::int64_t batch = 1, sequence = 0, context = 0;  // sequences; new positions of each; those in the cache before
    std::int64_t tensor_parallel = 1;
    double tokens = 0;  // new positions of all sequences
    Bytes weights;      // with gradients and the optimizer's states where it is trained
    Bytes kv_cache;     // of all sequences
    Bytes activations;  // at their largest; where it is trained, all that the backward pass must find
    [[nodiscard]] Bytes memory() const { return weights + kv_cache + activations; }
    // The same run with another batch; all but the weights goes with it.
    [[nodiscard]] Bytes memory_at(std::int64_t other_batch) const;
};

struct Network {
    std::string name;
    std::string note;  // which published version it is, and what was chosen
    std::vector<NamedShape> inputs;
    std::vector<NamedShape> outputs;  // of a file; those whose shape is known
    std::vector<Layer> layers;        // in the order they run
    std::vector<Unmodelled> unmodelled;
    double parameters = 0;               // learned elements: filters, biases, scales and shifts
    Errors notes;                        // what was assumed of a file
    std::optional<ModelRun> model = {};  // of a transformer that was read from its configuration
};

struct Totals {
    Flops flop;         // of all layers
    Flops matrix_flop;  // of convolutions and GEMMs: what papers state as twice the MACs
    Bytes bytes;        // compulsory, of all layers
    Bytes unmodelled;   // of the operators that have no layer
};
Totals totals(const Network& network);
// Bytes of the unmodelled over all bytes known; 0 if there is nothing.
double unmodelled_share(const Network& network);

// One layer for each that differs in anything but its name; order of first appearance, repeats added.
std::vector<Layer> merged(std::span<const Layer> layers);
// Forward, then backward in reverse order: dgrad where a gradient must flow on, wgrad where there is a filter.
// A streaming layer's backward is one dgrad: kernels compute the gradients of its parameters on the way.
Network training(const Network& network);
// The same network stored in another precision or layout. INT8 layers stay: they are quantised, or indices in bytes.
Network with_precision(Network network, Precision precision);
Network with_layout(Network network, Layout layout);

struct BuiltinOptions {
    std::int64_t batch = 1;
    std::int64_t sequence = 128;  // of bert-base
};
struct BuiltinNetwork {
    std::string_view name, what;
};
std::span<const BuiltinNetwork> builtin_networks();
Result<Network> builtin_network(std::string_view name, const BuiltinOptions& options = {});

// How a transformer's configuration becomes layers. 0: as the configuration or phase has it.
struct ModelOptions {
    Phase phase = Phase::prefill;
    std::int64_t batch = 1, sequence = 0, context = 0, tensor_parallel = 1;
    // One kernel for attention, for a norm with its residual, for a gated activation, as serving engines run it. False:
    // every operator of eager PyTorch by itself.
    bool fused = true;
    // Of a program that is not fused: element-wise kernels are joined with the norm, softmax or copy beside them, as a
    // compiler of eager programs does (torch.compile); products stay those of the library.
    bool compiled = false;
    std::optional<Precision> precision = {}, kv_precision = {};
};
// Hugging Face's config.json; docs/formats.md lists the families. Fails with all that it lacks.
Result<Network> read_model_config(std::string_view json, const std::string& source, const ModelOptions& options = {});
Result<Network> load_model_config(const std::string& path, const ModelOptions& options = {});
// Built-in configurations, data/models.
std::span<const BuiltinNetwork> builtin_models();
Result<Network> builtin_model(std::string_view name, const ModelOptions& options = {});

// How a built-in network or a transformer's configuration becomes the layers that are run. It needs no file, so that a
// page can make them again for another batch, sequence or precision. 0 and absent: as the network has it.
struct NetworkRecipe {
    std::string name;           // of the built-in network, or what the configuration is called
    std::string configuration;  // the text of a config.json; empty: a built-in network
    std::string source = {};    // where the configuration came from, for messages; empty: its name
    std::int64_t batch = 0, sequence = 0, context = 0, tensor_parallel = 0;
    std::optional<Precision> precision = {}, kv_precision = {};
    std::optional<Layout> layout = {};
    std::optional<Pass> pass = {};  // that pass alone
    std::optional<Phase> phase = {};
    bool training = false;  // all three passes
    bool fused = true;
    bool in_order = false;           // every layer as it runs; otherwise layers that are equal are one, with a count
    bool fastest_algorithm = false;  // of every convolution; else all are implicit GEMMs
};
Result<Network> network_by(const NetworkRecipe& recipe);
// What a recipe does to a network once it is read: layout, passes, optimizer, and equal layers as one.
Network as_run(Network network, const NetworkRecipe& recipe);
// Every convolution of one group that names no algorithm is left to the model: kFastestAlgorithm.
void take_fastest_algorithms(std::vector<Layer>& layers);
// The text of a built-in configuration; empty if there is none of that name.
std::string_view builtin_configuration(std::string_view name);

struct OnnxOptions {
    std::optional<std::int64_t> batch;        // dimension 0 of every input
    std::vector<NamedShape> shapes;           // of inputs by name; wins over batch
    std::optional<Precision> precision = {};  // instead of that of the file's tensors
    bool fused = false;  // attention and norms that are spelled out are one layer each, as a fusing engine runs them
};
Result<Network> read_onnx(std::string_view bytes, const std::string& source, const OnnxOptions& options = {});
Result<Network> load_onnx(const std::string& path, const OnnxOptions& options = {});
// "data:1x3x224x224".
Result<NamedShape> shape_from(std::string_view text);

// One row of a layer table. `layers` is empty if and only if there is a reason; it holds two where the row is of a
// whole backward pass, dgrad and wgrad in one call.
struct LayerRow {
    std::size_t line = 0;
    std::vector<std::string> cells;  // of all columns, as they were
    std::vector<Layer> layers;
    std::string reason;
};
struct LayerTable {
    std::vector<std::string> columns;
    std::vector<LayerRow> rows;
    Errors notes;  // columns that are passed through but look like a misspelt one
};
struct LayerTableOptions {
    std::optional<Precision> precision = {};  // of rows that give none; else FP32, with a note
    bool names = true;                        // rows that give none are named by their shape
};
// docs/formats.md, "Layer tables".
Result<LayerTable> read_layer_table(std::string_view text, const std::string& source,
                                    const LayerTableOptions& options = {});
Result<LayerTable> load_layer_table(const std::string& path, const LayerTableOptions& options = {});

// The same row by row, for tables of any length: it keeps one row, and of a file, a pipe or gzip a few MB.
class LayerTableReader {
public:
    // The text must outlive the reader.
    static Result<LayerTableReader> open(std::string_view text, const std::string& source,
                                         const LayerTableOptions& options = {});
    static Result<LayerTableReader> open_file(const std::string& path, const LayerTableOptions& options = {});
    LayerTableReader(LayerTableReader&&) noexcept;
    LayerTableReader& operator=(LayerTableReader&&) noexcept;
    ~LayerTableReader();

    [[nodiscard]] const std::vector<std::string>& columns() const;
    [[nodiscard]] const Errors& notes() const;
    // Goes to the next row; false behind the last one, or where the table cannot be read further.
    bool next();
    // Why it cannot be read further, such as gzip that is damaged; empty: it can, or it was read to its end.
    [[nodiscard]] Errors faults() const;
    // Of the row: its cells as they were, at most as many as there are columns, valid until the next call of next().
    [[nodiscard]] std::span<const std::string_view> cells() const;
    // Gives them away in exchange for memory of the next row; cells() has none then.
    void take_cells(std::vector<std::string_view>& cells);
    [[nodiscard]] std::size_t line() const;
    // Whether its cells and text stay valid while later rows are read, as those of a text in memory or a mapped file
    // do, unless a quote inside of a cell had to be undone.
    [[nodiscard]] bool stays() const;
    // Where it begins; and the line of a row that stays, which must not be asked for before that of an earlier one.
    [[nodiscard]] std::size_t offset() const;
    [[nodiscard]] std::size_t line_at(std::size_t offset) const;
    // The text of the row without its line end, where its cells written as CSV give that text again if it is printable
    // ASCII; else empty. Valid as long as the cells.
    [[nodiscard]] std::string_view canonical_text() const;
    // Its layers, or the reason why there are none; what `row` held before is overwritten, but not its line and cells.
    void read(LayerRow& row) const;

private:
    struct State;
    explicit LayerTableReader(std::unique_ptr<State> state);
    static Result<LayerTableReader> open(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace gambrel
