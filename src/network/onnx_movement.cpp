// Operators of ONNX that move elements: concatenation, split, slice, transpose, pad, resize, gather, expand, cast.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "network/onnx_node.hpp"

namespace gambrel::network_detail {
namespace {

// What is not taken is not read.
void copied(NodeRun& run, double written) {
    if (run.in(0).constant) return run.stream(Streaming{StreamingKind::copy, {}, 0, 0, 1}, 0);
    run.stream(Streaming{StreamingKind::copy, {std::min(run.elements(0), written)}, 0, 0, 1}, 0);
}

void concat(NodeRun& run) {
    Dims y = run.dims(0, 1);
    const std::size_t axis = run.axis(run.integer("axis", 1), y.size());
    std::optional<std::vector<double>> values(std::in_place);
    y[axis] = 0;
    for (std::size_t i = 0; i < run.inputs(); ++i) {
        const Dims& x = run.dims(i);
        bool fits = x.size() == y.size();
        for (std::size_t d = 0; fits && d < x.size(); ++d) fits = d == axis || x[d] == y[d];
        if (!fits) throw NotInferred{fmt::format("{} does not fit {}", shape_text(x), shape_text(y))};
        y[axis] += x[axis];
        if (values && run.in(i).values && y.size() == 1 && values->size() <= kMostValues)
            values->insert(values->end(), run.in(i).values->begin(), run.in(i).values->end());
        else
            values.reset();
        if (y[axis] > (std::int64_t{1} << 31)) throw NotInferred{"a tensor of more than 2^31 in one dimension"};
    }
    run.out(0, y, run.in(0).type, std::move(values));
    run.stream(StreamingKind::concatenation);
}

void split(NodeRun& run) {
    const Dims x = run.dims(0, 1);
    const std::size_t axis = run.axis(run.integer("axis", 0), x.size());
    const auto parts = static_cast<std::int64_t>(run.outputs());
    if (parts == 0) throw NotInferred{"it has no output"};
    auto sizes = run.list_or_input("split", 1).value_or(Dims{});
    if (sizes.empty()) {
        const std::int64_t each = (x[axis] + parts - 1) / parts;
        for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::clamp<std::int64_t>(x[axis] - i * each, 0, each));
    }
    if (sizes.size() != run.outputs())
        throw NotInferred{fmt::format("{} sizes for {} outputs", sizes.size(), run.outputs())};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        Dims y = x;
        y[axis] = sizes[i];
        run.out(i, y, run.in(0).type);
    }
    // One layer that reads and writes the whole; its written side is set from all outputs, not from the first.
    if (!run.runs() || element_count(x) == 0) return;
    run.stream_whole(StreamingKind::copy, element_count(x));
}

struct Cut {
    std::int64_t start = 0, count = 0, step = 1;
};

Cut cut_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (step == 0) throw NotInferred{"a step of 0"};
    // Steps beyond the size take one element, as they do here.
    step = std::clamp<std::int64_t>(step, -(std::int64_t{1} << 32), std::int64_t{1} << 32);
    const auto inside = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
        if (at < 0) at = at < -size ? -1 : at + size;
        return std::clamp(at, low, high);
    };
    if (step > 0) {
        const std::int64_t from = inside(start, 0, size), to = inside(end, 0, size);
        return {from, to > from ? (to - from + step - 1) / step : 0, step};
    }
    const std::int64_t from = inside(start, 0, std::max<std::int64_t>(size - 1, 0));
    const std::int64_t to = end < -size ? -1 : inside(end, -1, size - 1);
    return {from, from > to && size > 0 ? (from - to - step - 1) / -step : 0, step};
}

void slice(NodeRun& run) {
    const Dims& x = run.dims(0);
    const auto starts = run.list_or_input("starts", 1), ends = run.list_or_input("ends", 2);
    if (!starts || !ends || starts->size() != ends->size()) throw NotInferred{"starts and ends differ in length"};
    auto axes = run.list_or_input("axes", 3);
    auto steps = run.has(4) ? std::optional(run.integers(4)) : std::nullopt;
    if ((axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size()))
        throw NotInferred{"starts, axes and steps differ in length"};
    Dims y = x;
    Cut last;
    for (std::size_t i = 0; i < starts->size(); ++i) {
        const std::size_t axis = run.axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), x.size());
        last = cut_of(x[axis], (*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1);
        y[axis] = last.count;
    }
    std::optional<std::vector<double>> values;
    if (x.size() == 1 && starts->size() == 1 && run.in(0).values) {
        values.emplace();
        for (std::int64_t i = 0; i < last.count; ++i)
            values->push_back(run.in(0).values->at(static_cast<std::size_t>(last.start + i * last.step)));
    }
    run.out(0, y, run.in(0).type, std::move(values));
    copied(run, element_count(y));
}

void transpose(NodeRun& run) {
    const Dims& x = run.dims(0);
    std::vector<std::int64_t> order = run.list("perm");
    if (order.empty())
        for (std::size_t i = x.size(); i > 0; --i) order.push_back(static_cast<std::int64_t>(i - 1));
    if (order.size() != x.size()) throw NotInferred{fmt::format("perm of {} for {}", order.size(), shape_text(x))};
    Dims y;
    for (const std::int64_t axis : order) y.push_back(x[run.axis(axis, x.size())]);
    if (element_count(y) != element_count(x)) throw NotInferred{"perm names an axis twice"};
    run.out(0, y, run.in(0).type, x.size() <= 1 ? run.in(0).values : std::nullopt);
    copied(run, element_count(y));
}

void pad(NodeRun& run) {
    Dims y = run.dims(0);
    auto pads = run.list_or_input("pads", 1);
    if (!pads) throw NotInferred{"no pads are given"};
    Dims axes = run.has(3) ? run.integers(3) : Dims{};
    if (axes.empty())
        for (std::size_t i = 0; i < y.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (pads->size() != 2 * axes.size())
        throw NotInferred{fmt::format("{} pads for {} axes", pads->size(), axes.size())};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        constexpr std::int64_t kMost = std::int64_t{1} << 32;
        y[run.axis(axes[i], y.size())] +=
            std::clamp((*pads)[i], -kMost, kMost) + std::clamp((*pads)[axes.size() + i], -kMost, kMost);
    }
    run.out(0, y, run.in(0).type);
    copied(run, element_count(y));
}

void resized(NodeRun& run, std::size_t scales_at, std::size_t sizes_at) {
    Dims y = run.dims(0);
    if (run.has(sizes_at) && run.in(sizes_at).values && run.in(sizes_at).values->size() == y.size()) {
        y = run.integers(sizes_at);
    } else {
        std::vector<double> scales;
        if (const OnnxAttribute* a = run.attribute("scales")) scales = a->numbers;
        if (scales.empty() && run.has(scales_at) && run.in(scales_at).values) scales = *run.in(scales_at).values;
        if (scales.size() != y.size()) throw NotInferred{"its scales or sizes are not known before it runs"};
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = to_integer(std::floor(static_cast<double>(y[i]) * scales[i]));
    }
    run.out(0, y, run.in(0).type);
    const std::string_view mode = run.text("mode");
    const auto kind = mode.empty() || mode == "nearest" ? StreamingKind::copy : StreamingKind::resize;
    run.stream(Streaming{kind, {run.elements(0)}, 0, 0, 1}, 0);
}
void resize(NodeRun& run) { run.opset() >= 11 ? resized(run, 2, 3) : resized(run, 1, SIZE_MAX); }
void upsample(NodeRun& run) { resized(run, 1, SIZE_MAX); }

void gather(NodeRun& run) {
    const Dims &x = run.dims(0, 1), &at = run.dims(1);
    const std::size_t axis = run.axis(run.integer("axis", 0), x.size());
    const auto split_at = x.begin() + static_cast<std::ptrdiff_t>(axis);
    Dims y(x.begin(), split_at);
    y.insert(y.end(), at.begin(), at.end());
    y.insert(y.end(), split_at + 1, x.end());
    std::optional<std::vector<double>> values;
    if (x.size() == 1 && run.in(0).values && run.in(1).values) {
        values.emplace();
        for (const std::int64_t i : run.integers(1))
            values->push_back((*run.in(0).values)[run.axis(i, run.in(0).values->size())]);
    }
    run.out(0, y, run.in(0).type, std::move(values));
    // Only the rows that are asked for are read; a table of constants is an embedding, and is learned.
    const double taken = element_count(y);
    if (run.runs() && run.in(0).constant) run.count_parameter(0);
    run.stream(Streaming{StreamingKind::gather, {taken}, 0, 0, 1}, 0);
}

void gather_elements(NodeRun& run) {
    run.out(0, run.dims(1), run.in(0).type);
    run.stream(Streaming{StreamingKind::gather, {run.elements(1), run.elements(1)}, 0, 0, 1}, 0);
}

// The whole of the data is copied, then the updates go over it.
void scatter(NodeRun& run) {
    run.out(0, run.dims(0), run.in(0).type);
    run.stream(Streaming{StreamingKind::copy, {run.elements(0), run.elements(2)}, 0, 0, 1}, 0);
}

void gather_nd(NodeRun& run) {
    const Dims &x = run.dims(0, 1), &at = run.dims(1, 1);
    const std::int64_t batch = run.integer("batch_dims", 0), depth = at.back();
    const auto rank = static_cast<std::int64_t>(x.size());
    if (batch < 0 || depth < 1 || batch > rank || depth > rank - batch)
        throw NotInferred{fmt::format("indices {} into {}", shape_text(at), shape_text(x))};
    Dims y(at.begin(), at.end() - 1);
    y.insert(y.end(), x.begin() + batch + depth, x.end());
    run.out(0, y, run.in(0).type);
    run.stream(Streaming{StreamingKind::gather, {element_count(y)}, 0, 0, 1}, 0);
}

void top_k(NodeRun& run) {
    Dims y = run.dims(0, 1);
    const auto k = run.opset() >= 10 ? run.integers(1) : Dims{run.integer("k", 1)};
    if (k.size() != 1) throw NotInferred{"k is not one number"};
    y[run.axis(run.integer("axis", -1), y.size())] = k[0];
    run.out(0, y, run.in(0).type);
    run.out(1, y, kOnnxInt64);
    run.stream(Streaming{StreamingKind::reduction, {run.elements(0)}, 0, 0, 1}, 0);
}

void expand(NodeRun& run) {
    const Dims y = broadcast(run.dims(0), run.integers(1));
    std::optional<std::vector<double>> values;
    const double count = element_count(y);
    if (run.in(0).values && run.in(0).values->size() == 1 && count >= 0 && count <= static_cast<double>(kMostValues))
        values.emplace(static_cast<std::size_t>(count), run.in(0).values->front());
    run.out(0, y, run.in(0).type, std::move(values));
    copied(run, count);
}

void tile(NodeRun& run) {
    Dims y = run.dims(0);
    const auto times = run.integers(1);
    if (times.size() != y.size()) throw NotInferred{"as many repeats as dimensions are needed"};
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (times[i] < 0 || times[i] > (std::int64_t{1} << 31)) throw NotInferred{"a repeat that is out of range"};
        y[i] *= times[i];
    }
    run.out(0, y, run.in(0).type);
    copied(run, element_count(y));
}

void block_to_space(NodeRun& run) {
    Dims y = run.dims(0, 4);
    const std::int64_t b = run.integer("blocksize", 0);
    const bool to_space = run.node().op == "DepthToSpace";
    if (b < 1 || b > (1 << 15) || y[1] > (std::int64_t{1} << 31) / b) throw NotInferred{fmt::format("blocksize {}", b)};
    if (to_space)
        y[1] /= b * b, y[2] *= b, y[3] *= b;
    else
        y[1] *= b * b, y[2] /= b, y[3] /= b;
    run.out(0, y, run.in(0).type);
    copied(run, element_count(y));
}

void cast(NodeRun& run) {
    const bool like = run.node().op == "CastLike";
    const int type = like ? run.in(1).type : static_cast<int>(std::clamp<std::int64_t>(run.integer("to", 1), 0, 100));
    std::optional<std::vector<double>> values = run.in(0).values;
    if (values && (type == kOnnxInt32 || type == kOnnxInt64))
        for (double& v : *values) v = std::trunc(v);
    run.out(0, run.dims(0), type, std::move(values));
    if (!run.in(0).constant) copied(run, run.elements(0));
}

}  // namespace

Infer movement_operator(std::string_view op) {
    static const std::unordered_map<std::string_view, Infer> kOperators = {{"Concat", concat},
                                                                           {"Split", split},
                                                                           {"Slice", slice},
                                                                           {"Transpose", transpose},
                                                                           {"Pad", pad},
                                                                           {"Resize", resize},
                                                                           {"Upsample", upsample},
                                                                           {"Gather", gather},
                                                                           {"GatherElements", gather_elements},
                                                                           {"Expand", expand},
                                                                           {"Tile", tile},
                                                                           {"DepthToSpace", block_to_space},
                                                                           {"SpaceToDepth", block_to_space},
                                                                           {"Cast", cast},
                                                                           {"ScatterND", scatter},
                                                                           {"ScatterElements", scatter},
                                                                           {"GatherND", gather_nd},
                                                                           {"TopK", top_k},
                                                                           {"CastLike", cast}};
    const auto it = kOperators.find(op);
    return it == kOperators.end() ? nullptr : it->second;
}

}  // namespace gambrel::network_detail
