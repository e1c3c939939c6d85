#include "network/onnx_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gambrel::network_detail {

std::int64_t to_integer(double value) {
    if (std::isnan(value)) return 0;
    if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
    if (value <= -0x1p63) return std::numeric_limits<std::int64_t>::min();
    return static_cast<std::int64_t>(value);
}

double element_count(const Dims& dims) {
    double count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<double>(dim);
    return count;
}

double onnx_element_bytes(int type) {
    switch (type) {
        case kOnnxUint8:
        case kOnnxInt8:
        case kOnnxBool:
            return 1;
        case 4:  // uint16
        case 5:  // int16
        case kOnnxFloat16:
        case kOnnxBfloat16:
            return 2;
        case kOnnxInt64:
        case kOnnxDouble:
        case 13:  // uint64
            return 8;
        default:
            return type >= kOnnxFirstFp8 && type <= kOnnxLastFp8 ? 1 : 4;
    }
}

std::optional<Precision> precision_of(int type) {
    if (type >= kOnnxFirstFp8 && type <= kOnnxLastFp8) return Precision::fp8;
    switch (type) {
        case kOnnxUnknown:
        case kOnnxFloat:
            return Precision::fp32;
        case kOnnxUint8:
        case kOnnxInt8:
            return Precision::int8;
        case kOnnxFloat16:
            return Precision::fp16;
        case kOnnxBfloat16:
            return Precision::bf16;
        case kOnnxDouble:
            return Precision::fp64;
        default:
            return std::nullopt;
    }
}

std::string shape_text(const Dims& dims) { return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x")); }

Dims broadcast(const Dims& a, const Dims& b) {
    const Dims &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
    Dims result = longer;
    const std::size_t offset = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::int64_t& dim = result[offset + i];
        if (dim == 1)
            dim = shorter[i];
        else if (shorter[i] != 1 && shorter[i] != dim)
            throw NotInferred{fmt::format("{} and {} do not broadcast", shape_text(a), shape_text(b))};
    }
    return result;
}

const OnnxValue& NodeRun::in(std::size_t i) const {
    if (!has(i)) throw NotInferred{fmt::format("input {} is missing", i)};
    const auto it = state_.values.find(node_.inputs[i]);
    if (it == state_.values.end())
        throw NotInferred{fmt::format("input \"{}\" is given by no node before", node_.inputs[i])};
    return it->second;
}

const Dims& NodeRun::dims(std::size_t i) const {
    const OnnxValue& value = in(i);
    if (!value.known) throw NotInferred{"the shape of its input is unknown"};
    return value.dims;
}

const Dims& NodeRun::dims(std::size_t i, std::size_t rank) const {
    const Dims& found = dims(i);
    if (found.size() < rank)
        throw NotInferred{fmt::format("input {} is {}, expected {} dimensions or more", i, shape_text(found), rank)};
    return found;
}

std::vector<std::int64_t> NodeRun::integers(std::size_t i) const {
    const OnnxValue& value = in(i);
    if (!value.values) throw NotInferred{fmt::format("input {} is not known before the network runs", i)};
    std::vector<std::int64_t> result;
    for (const double v : *value.values) result.push_back(to_integer(v));
    return result;
}

const OnnxAttribute* NodeRun::attribute(std::string_view name) const {
    for (const OnnxAttribute& a : node_.attributes)
        if (a.name == name) return &a;
    return nullptr;
}

std::int64_t NodeRun::integer(std::string_view name, std::int64_t if_absent) const {
    const OnnxAttribute* a = attribute(name);
    return a != nullptr ? a->integer : if_absent;
}

std::vector<std::int64_t> NodeRun::list(std::string_view name) const {
    const OnnxAttribute* a = attribute(name);
    return a != nullptr ? a->integers : std::vector<std::int64_t>{};
}

std::string_view NodeRun::text(std::string_view name) const {
    const OnnxAttribute* a = attribute(name);
    return a != nullptr ? a->text : std::string_view{};
}

std::size_t NodeRun::axis(std::int64_t value, std::size_t rank) const {
    const auto size = static_cast<std::int64_t>(rank);
    if (value < -size || value >= size) throw NotInferred{fmt::format("axis {} of a tensor of rank {}", value, rank)};
    return static_cast<std::size_t>(value < 0 ? value + size : value);
}

std::optional<std::vector<std::int64_t>> NodeRun::list_or_input(std::string_view name, std::size_t input) const {
    if (const OnnxAttribute* a = attribute(name); a != nullptr) return a->integers;
    if (has(input)) return integers(input);
    return std::nullopt;
}

void NodeRun::out(std::size_t i, Dims dims, int type) { out(i, std::move(dims), type, std::nullopt); }

void NodeRun::out(std::size_t i, Dims dims, int type, std::optional<std::vector<double>> values) {
    if (i >= node_.outputs.size() || node_.outputs[i].empty()) return;
    for (const std::int64_t dim : dims)
        if (dim < 0 || dim > (std::int64_t{1} << 31))
            throw NotInferred{fmt::format("its output would be {}", shape_text(dims))};
    if (element_count(dims) > 0x1p53) throw NotInferred{fmt::format("its output would be {}", shape_text(dims))};
    OnnxValue value;
    value.known = true;
    value.type = type;
    if (values && static_cast<double>(values->size()) == element_count(dims) && values->size() <= kMostValues)
        value.values = std::move(values);
    value.dims = std::move(dims);
    value.constant = !runs();
    for (std::size_t k = 0; k < inputs(); ++k)
        if (has(k)) value.trained = value.trained || in(k).trained;
    state_.values[node_.outputs[i]] = std::move(value);
}

void NodeRun::alias(std::size_t i, Dims dims, std::size_t from) {
    const OnnxValue& source = in(from);
    out(i, std::move(dims), source.type, source.values);
}

bool NodeRun::runs() const {
    for (std::size_t i = 0; i < inputs(); ++i)
        if (has(i) && !in(i).constant) return true;
    return false;
}

double NodeRun::elements(std::size_t i) const { return element_count(dims(i)); }

void NodeRun::count_parameter(std::size_t i) {
    if (!has(i) || !in(i).constant || !in(i).known || !precision_of(in(i).type)) return;
    if (state_.parameters.insert(node_.inputs[i]).second) state_.network.parameters += elements(i);
}

void NodeRun::learned() {
    for (const std::string_view name : node_.outputs)
        if (const auto it = state_.values.find(name); it != state_.values.end()) it->second.trained = true;
}

Layer& NodeRun::push(std::size_t typed) {
    Layer& layer = state_.network.layers.emplace_back();
    const std::string_view output = node_.outputs.empty() ? std::string_view{} : node_.outputs[0];
    layer.name = node_.name.empty() ? fmt::format("{} {}", node_.op, output) : std::string(node_.name);
    layer.precision = precision_of(in(typed).type).value_or(Precision::int8);
    layer.input_is_trained = false;
    for (std::size_t i = 0; i < inputs(); ++i)
        if (has(i) && in(i).trained) layer.input_is_trained = true;
    return layer;
}

void NodeRun::emit(const Convolution& convolution, Pass pass, std::size_t data, std::size_t filter, std::size_t bias) {
    if (!runs()) return;
    if (const auto found = faults(convolution); !found.empty())
        throw NotInferred{fmt::format("{}", fmt::join(found, "; "))};
    Layer& layer = push(data);
    layer.op = convolution;
    layer.pass = pass;
    layer.input_is_trained = in(data).trained;
    layer.has_filter = in(filter).constant;
    layer.bias = has(bias);
    count_parameter(filter), count_parameter(bias);
    learned();
}

void NodeRun::emit(const Gemm& gemm, std::size_t bias) {
    if (!runs()) return;
    if (const auto found = faults(gemm); !found.empty()) throw NotInferred{fmt::format("{}", fmt::join(found, "; "))};
    Layer& layer = push(0);
    layer.op = gemm;
    layer.has_filter = in(0).constant || in(1).constant;
    // ONNX allows any C that can be broadcast; a row of n is what libraries call a bias.
    layer.bias = has(bias) && in(bias).known && elements(bias) == static_cast<double>(gemm.n);
    if (layer.has_filter) learned();
    count_parameter(0), count_parameter(1), count_parameter(bias);
}

void NodeRun::stream(StreamingKind kind, double window) {
    Streaming s{kind, {}, 0, 0, window};
    std::size_t slot = 0;
    for (std::size_t i = 0; i < inputs(); ++i) {
        if (!has(i)) continue;
        if (in(i).constant && elements(i) > 1) {
            s.parameters += elements(i);
            count_parameter(i);
        } else if (!in(i).constant) {
            s.read[std::min<std::size_t>(slot++, s.read.size() - 1)] += elements(i);
        }
    }
    stream(s, 0);
}

void NodeRun::stream(Streaming s, std::size_t typed) {
    if (!runs() || node_.outputs.empty()) return;
    const auto output = state_.values.find(node_.outputs[0]);
    if (output == state_.values.end() || output->second.values) return;  // folded: nothing runs
    s.written = element_count(output->second.dims);
    if (s.written > 0) push_stream(s, typed);
}

void NodeRun::stream_whole(StreamingKind kind, double elements) {
    push_stream(Streaming{kind, {elements}, 0, elements, 1}, 0);
}

void NodeRun::push_stream(Streaming s, std::size_t typed) {
    Layer& layer = push(typed);
    // Integers move bytes and do no FLOP; there is no precision of their size.
    if (!precision_of(in(typed).type)) {
        const double bytes = onnx_element_bytes(in(typed).type);
        s.kind = StreamingKind::copy;
        for (double& elements : s.read) elements *= bytes;
        s.parameters *= bytes;
        s.written *= bytes;
    }
    layer.op = s;
    if (s.parameters > 0) learned();
}

}  // namespace gambrel::network_detail
