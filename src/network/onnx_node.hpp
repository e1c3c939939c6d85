// One node of an ONNX graph while its shapes are inferred: its inputs, its attributes, and what it gives: shapes of its
// outputs, and a layer. Invariant: a shape that is set has only dimensions from 0 to 2^31 and at most 2^53 elements.
// An operator that cannot go on throws NotInferred; the reader catches it and lists the node.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/network.hpp>

#include "network/onnx_messages.hpp"

namespace gambrel::network_detail {

using Dims = std::vector<std::int64_t>;

struct NotInferred {
    std::string reason;
};

struct OnnxValue {
    bool known = false;  // whether `dims` are
    Dims dims;
    int type = kOnnxUnknown;
    std::optional<std::vector<double>> values;  // of a tensor that shapes are made from
    bool constant = false;                      // follows from the file alone
    bool trained = false;                       // something before it learns
};

struct OnnxState {
    std::int64_t opset = 0;
    std::optional<std::int64_t> file_batch, batch;  // what the file has and what was asked for instead
    std::unordered_map<std::string_view, OnnxValue> values;
    std::set<std::string_view> parameters;  // names of the constants that have been counted
    Network network;
};

class NodeRun {
public:
    NodeRun(const OnnxNode& node, OnnxState& state) : node_(node), state_(state) {}

    [[nodiscard]] const OnnxNode& node() const { return node_; }
    [[nodiscard]] std::int64_t opset() const { return state_.opset; }
    [[nodiscard]] const OnnxState& state() const { return state_; }

    [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
    [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
    [[nodiscard]] bool has(std::size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
    const OnnxValue& in(std::size_t i) const;                 // throws if it is absent or no node has given it
    const Dims& dims(std::size_t i) const;                    // throws if they are unknown
    const Dims& dims(std::size_t i, std::size_t rank) const;  // and if there are fewer
    std::vector<std::int64_t> integers(std::size_t i) const;  // the values; throws if they are unknown

    [[nodiscard]] const OnnxAttribute* attribute(std::string_view name) const;
    [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t if_absent) const;
    [[nodiscard]] std::vector<std::int64_t> list(std::string_view name) const;
    [[nodiscard]] std::string_view text(std::string_view name) const;
    // An axis from -rank to rank - 1, made positive; throws if it is outside.
    [[nodiscard]] std::size_t axis(std::int64_t value, std::size_t rank) const;
    // What was an attribute in early opsets and an input later.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> list_or_input(std::string_view name,
                                                                         std::size_t input) const;

    void out(std::size_t i, Dims dims, int type);
    void out(std::size_t i, Dims dims, int type, std::optional<std::vector<double>> values);
    // As input `from` is, in `dims`, with its values: a view of the same memory.
    void alias(std::size_t i, Dims dims, std::size_t from = 0);

    // Whether anything but the file decides the result: only then is there something to run.
    [[nodiscard]] bool runs() const;
    // The element type of the work is that of input `typed`. Parameters are the named inputs that are constant.
    // `bias` is the input that holds it, if the node has that many inputs.
    void emit(const Convolution& convolution, Pass pass, std::size_t data, std::size_t filter, std::size_t bias);
    void emit(const Gemm& gemm, std::size_t bias = SIZE_MAX);
    void stream(StreamingKind kind, double window = 1);      // all inputs to output 0
    void stream(Streaming streaming, std::size_t typed);     // what is written is output 0
    void stream_whole(StreamingKind kind, double elements);  // reads and writes as many: of several outputs
    [[nodiscard]] double elements(std::size_t i) const;      // of an input; throws if unknown
    void count_parameter(std::size_t i);

private:
    Layer& push(std::size_t typed);
    void push_stream(Streaming streaming, std::size_t typed);
    void learned();
    const OnnxNode& node_;
    OnnxState& state_;
};

std::int64_t to_integer(double value);  // saturating
double element_count(const Dims& dims);
double onnx_element_bytes(int type);
std::optional<Precision> precision_of(int type);  // empty for integers that are not 8 bits wide
std::string shape_text(const Dims& dims);
Dims broadcast(const Dims& a, const Dims& b);  // numpy's rule; throws NotInferred

using Infer = void (*)(NodeRun&);
// Empty if the operator is not modelled.
Infer matrix_operator(std::string_view op);
Infer streaming_operator(std::string_view op);
Infer shape_operator(std::string_view op);
Infer movement_operator(std::string_view op);

}  // namespace gambrel::network_detail
