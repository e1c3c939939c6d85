// Operators of ONNX that give another shape to the same memory, or that are known before the network runs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "network/onnx_node.hpp"

namespace gambrel::network_detail {
namespace {

void reshape(NodeRun& run) {
    const Dims x = run.dims(0);
    const auto wanted = run.list_or_input("shape", 1);
    if (!wanted) throw NotInferred{"no shape is given"};
    const bool keep_zero = run.integer("allowzero", 0) != 0;
    Dims y = *wanted;
    std::optional<std::size_t> open;
    double known = 1;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (y[i] == 0 && !keep_zero && i < x.size()) y[i] = x[i];
        if (y[i] == -1 && !open)
            open = i;
        else
            known *= static_cast<double>(y[i]);
    }
    const double elements = element_count(x);
    // A batch of 1 that an exporter wrote into the shape follows a batch that was asked for.
    const auto& state = run.state();
    if (!open && known != elements && !y.empty() && state.batch && state.file_batch && y[0] == *state.file_batch &&
        known * static_cast<double>(*state.batch) == elements * static_cast<double>(*state.file_batch)) {
        y[0] = *state.batch;
        known = elements;
    } else if (open && state.batch && state.file_batch && *open != 0 && !x.empty() && y[0] == *state.file_batch &&
               *state.batch != *state.file_batch && x[0] == *state.batch) {
        known = known / static_cast<double>(y[0]) * static_cast<double>(*state.batch);
        y[0] = *state.batch;
    }
    if (open) y[*open] = known > 0 ? to_integer(elements / known) : 0;
    if (element_count(y) != elements)
        throw NotInferred{fmt::format("{} does not reshape to {}", shape_text(x), shape_text(*wanted))};
    run.alias(0, y);
}

void flatten(NodeRun& run) {
    const Dims& x = run.dims(0);
    const auto rank = static_cast<std::int64_t>(x.size());
    std::int64_t axis = run.integer("axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) throw NotInferred{fmt::format("axis {} of rank {}", axis, rank)};
    const double before = element_count(Dims(x.begin(), x.begin() + axis));
    const double after = element_count(Dims(x.begin() + axis, x.end()));
    run.alias(0, {to_integer(before), to_integer(after)});
}

void squeeze(NodeRun& run) {
    const Dims& x = run.dims(0);
    const auto axes = run.list_or_input("axes", 1);
    std::vector<bool> gone(x.size(), false);
    for (std::size_t i = 0; i < x.size(); ++i) gone[i] = !axes && x[i] == 1;
    if (axes)
        for (const std::int64_t a : *axes) gone[run.axis(a, x.size())] = true;
    Dims y;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!gone[i]) y.push_back(x[i]);
    run.alias(0, y);
}

void unsqueeze(NodeRun& run) {
    const Dims& x = run.dims(0);
    const auto axes = run.list_or_input("axes", 1);
    if (!axes) throw NotInferred{"no axes are given"};
    if (axes->size() > 64) throw NotInferred{"more than 64 axes"};
    std::vector<bool> is_new(x.size() + axes->size(), false);
    for (const std::int64_t a : *axes) is_new[run.axis(a, is_new.size())] = true;
    Dims y;
    std::size_t from = 0;
    for (const bool fresh : is_new) {
        if (!fresh && from >= x.size()) throw NotInferred{"an axis is given twice"};
        y.push_back(fresh ? 1 : x[from++]);
    }
    run.alias(0, y);
}

void identity(NodeRun& run) { run.alias(0, run.dims(0)); }

void dropout(NodeRun& run) {
    run.alias(0, run.dims(0));
    run.out(1, run.dims(0), kOnnxBool);
}

void shape(NodeRun& run) {
    const Dims& x = run.dims(0);
    const auto rank = static_cast<std::int64_t>(x.size());
    const auto clamped = [rank](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const std::int64_t start = clamped(std::clamp(run.integer("start", 0), -rank, rank));
    const std::int64_t end = std::max(start, clamped(std::clamp(run.integer("end", rank), -rank, rank)));
    std::vector<double> values;
    for (std::int64_t i = start; i < end; ++i) values.push_back(static_cast<double>(x[static_cast<std::size_t>(i)]));
    const auto count = static_cast<std::int64_t>(values.size());
    run.out(0, {count}, kOnnxInt64, std::move(values));
}

void size(NodeRun& run) { run.out(0, {}, kOnnxInt64, std::vector<double>{run.elements(0)}); }

void constant(NodeRun& run) {
    if (const OnnxAttribute* a = run.attribute("value"); a != nullptr && !a->tensor.empty()) {
        OnnxTensor tensor = decode_onnx_tensor(a->tensor);
        run.out(0, tensor.dims, tensor.type, std::move(tensor.values));
        return;
    }
    if (const OnnxAttribute* a = run.attribute("value_int")) {
        run.out(0, {}, kOnnxInt64, std::vector<double>{static_cast<double>(a->integer)});
    } else if (const OnnxAttribute* f = run.attribute("value_float")) {
        run.out(0, {}, kOnnxFloat, std::vector<double>{f->number});
    } else if (const OnnxAttribute* list = run.attribute("value_ints")) {
        run.out(0, {static_cast<std::int64_t>(list->integers.size())}, kOnnxInt64,
                std::vector<double>(list->integers.begin(), list->integers.end()));
    } else if (const OnnxAttribute* floats = run.attribute("value_floats")) {
        run.out(0, {static_cast<std::int64_t>(floats->numbers.size())}, kOnnxFloat, floats->numbers);
    } else {
        throw NotInferred{"a constant that is not a tensor of numbers"};
    }
}

void constant_of_shape(NodeRun& run) {
    const Dims y = run.integers(0);
    double fill = 0;
    int type = kOnnxFloat;
    if (const OnnxAttribute* a = run.attribute("value"); a != nullptr && !a->tensor.empty()) {
        const OnnxTensor tensor = decode_onnx_tensor(a->tensor);
        type = tensor.type;
        if (tensor.values && !tensor.values->empty()) fill = tensor.values->front();
    }
    std::optional<std::vector<double>> values;
    const double count = element_count(y);
    if (count >= 0 && count <= static_cast<double>(kMostValues)) values.emplace(static_cast<std::size_t>(count), fill);
    run.out(0, y, type, std::move(values));
}

void range(NodeRun& run) {
    for (std::size_t i = 0; i < 3; ++i)
        if (!run.in(i).values || run.in(i).values->empty())
            throw NotInferred{"its bounds are not known before it runs"};
    const double start = run.in(0).values->front(), limit = run.in(1).values->front(), step = run.in(2).values->front();
    const double count = std::max(0.0, std::ceil((limit - start) / step));
    if (!std::isfinite(count) || count > 0x1p31) throw NotInferred{fmt::format("a range of {} values", count)};
    std::optional<std::vector<double>> values;
    if (count <= static_cast<double>(kMostValues)) {
        values.emplace();
        for (double i = 0; i < count; ++i) values->push_back(start + i * step);
    }
    run.out(0, {to_integer(count)}, run.in(0).type, std::move(values));
}

}  // namespace

Infer shape_operator(std::string_view op) {
    static const std::unordered_map<std::string_view, Infer> kOperators = {
        {"Reshape", reshape},   {"Flatten", flatten},
        {"Squeeze", squeeze},   {"Unsqueeze", unsqueeze},
        {"Identity", identity}, {"Dropout", dropout},
        {"Shape", shape},       {"Size", size},
        {"Constant", constant}, {"ConstantOfShape", constant_of_shape},
        {"Range", range}};
    const auto it = kOperators.find(op);
    return it == kOperators.end() ? nullptr : it->second;
}

}  // namespace gambrel::network_detail
