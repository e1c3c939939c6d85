#include <algorithm>

#include <fmt/format.h>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

using Dims = OperatorInput::Dims;

// What a rule's words make of the inputs: elements written and the bytes of each.
struct Written {
    double elements = 0, bytes = 0;
    std::string fault;
};

const Dims* first_tensor(const OperatorCall& call, const StreamRule& rule) {
    for (const int at : rule.read)
        if (const OperatorInput* input = argument(call, at); input && !input->tensors.empty())
            return &input->tensors.front();
    return nullptr;
}

double size_of_result(const Launch& l, const StreamRule& rule, std::vector<std::string>& remarks) {
    if (!rule.out_type.empty()) return type_size(rule.out_type).value_or(4);
    double floating = 0, largest = 0;
    for (const int at : rule.read) {
        const OperatorInput* input = argument(*l.call, at);
        if (!input || input->tensors.empty()) continue;
        const double size = element_bytes(*input, l.kernel(), remarks);
        // A tensor of no dimensions does not decide the type of a result.
        if (input->tensors.front().empty() && largest > 0) continue;
        largest = std::max(largest, size);
        if (precision_of(input->type)) floating = std::max(floating, size);
    }
    return floating > 0 ? floating : largest;
}

Written reduced(const Launch& l, const Dims& dims) {
    const Dims axes = l.call->inputs.size() > 1 ? numbers_in(l.call->inputs[1].value) : Dims{};
    if (axes.empty()) return {1, 0, {}};
    double left = elements(dims);
    for (std::int64_t axis : axes) {
        if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
        if (axis >= 0 && axis < static_cast<std::int64_t>(dims.size()) && dims[std::size_t(axis)] > 0)
            left /= double(dims[std::size_t(axis)]);
    }
    return {left, 0, {}};
}

Dims numbers_of(const Launch& l, std::string_view name) {
    return numbers_in(value_at(*l.call, l.rule->argument(name)));
}

Written pooled(const Launch& l, const Dims& dims) {
    const Dims kernel = numbers_of(l, "kernel"), padding = numbers_of(l, "padding");
    Dims stride = numbers_of(l, "stride");
    if (kernel.empty() || dims.size() < 3) return {0, 0, "window and stride of the pooling were not recorded"};
    if (stride.empty()) stride = kernel;
    const std::size_t sides = std::min<std::size_t>(dims.size() - 2, std::max<std::size_t>(2, kernel.size()));
    double out = elements(Dims(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(sides)));
    const auto item = [](const Dims& d, std::size_t i) { return d.empty() ? 0 : d[std::min(i, d.size() - 1)]; };
    for (std::size_t i = 0; i < sides; ++i) {
        const std::int64_t side = dims[dims.size() - sides + i];
        const std::int64_t step = std::max<std::int64_t>(1, item(stride, i));
        out *= double(std::max<std::int64_t>(0, (side + 2 * item(padding, i) - item(kernel, i)) / step + 1));
    }
    return {out, 0, {}};
}

Written resized(const Launch& l, const Dims& dims) {
    const Dims size = numbers_of(l, "size");
    if (size.empty() || dims.size() < size.size()) return {0, 0, "the size of the result was not recorded"};
    return {
        elements(Dims(dims.begin(), dims.end() - static_cast<std::ptrdiff_t>(size.size()))) * elements(size), 0, {}};
}

// Elements that the grid of PyTorch's loop over elements covers; the last CTA may be partly idle. A thread takes as
// many as the second argument of the template says: index_elementwise_kernel<128, 4, ...>.
double grid_elements(const Activity& a) {
    const std::string& name = a.name.str();
    double each = 4;
    if (const auto at = name.find("elementwise_kernel<"); at != std::string::npos)
        if (const auto comma = name.find(", ", at); comma != std::string::npos && comma + 2 < name.size())
            if (const char digit = name[comma + 2]; digit >= '1' && digit <= '8') each = digit - '0';
    return each * double(a.shape.grid[0]) * a.shape.grid[1] * a.shape.grid[2] * double(a.shape.block[0]) *
           a.shape.block[1] * a.shape.block[2];
}

Described gathered(const Launch& l, const StreamRule& rule) {
    const OperatorInput* table = argument(*l.call, l.rule->argument("table"));
    const OperatorInput* index = argument(*l.call, l.rule->argument("index"));
    if (!table || !index || table->tensors.empty() || index->tensors.empty())
        return Described::refused("shapes of its operands were not recorded");
    const Dims& rows = table->tensors.front();
    const Dims dim = numbers_of(l, "dim");
    std::int64_t axis = dim.empty() ? 0 : dim.front();
    if (axis < 0) axis += static_cast<std::int64_t>(rows.size());
    if (rows.empty() || axis < 0 || axis >= std::int64_t(rows.size()) || rows[std::size_t(axis)] <= 0)
        return Described::refused("the axis that it selects on is not in the tensor");
    std::vector<std::string> remarks;
    const double indices = elements(*index), size = element_bytes(*table, l.kernel(), remarks);
    const double out = elements(rows) / double(rows[std::size_t(axis)]) * indices;
    // Rows that are asked for more than once are read once; the others not at all.
    const double read = std::min(out, elements(rows)) * size + indices * 8;
    // A bag is the sum of its rows.
    const OperatorInput* bags = argument(*l.call, l.rule->argument("offsets"));
    const double written = bags && indices > 0 ? std::min(out, elements(*bags) * (out / indices)) : out;
    Described d = stream(l, read, written * size, rule.flop * out);
    d.remarks = std::move(remarks);
    return d;
}

Written written_by(const Launch& l, const StreamRule& rule, std::vector<std::string>& remarks) {
    Written w;
    if (!rule.write_arguments.empty()) {
        for (const int at : rule.write_arguments) {
            const OperatorInput* input = argument(*l.call, at);
            if (!input) continue;
            w.elements = std::max(w.elements, elements(*input));
            w.bytes += stored_elements(*input) * element_bytes(*input, l.kernel(), remarks);
        }
        if (w.elements == 0) w.fault = "shapes of what it writes were not recorded";
        return w;
    }
    if (rule.write == "none") return w;
    if (rule.write == "list") {
        for (const int at : rule.read)
            if (const OperatorInput* input = argument(*l.call, at)) w.elements += elements(*input);
        w.bytes = w.elements * size_of_result(l, rule, remarks);
        if (w.elements == 0) w.fault = "shapes of its operands were not recorded";
        return w;
    }
    const Dims* first = first_tensor(*l.call, rule);
    if (!first) return {0, 0, "shapes of its operands were not recorded"};
    if (rule.write == "broadcast") {
        Dims out;
        for (const int at : rule.read)
            if (const OperatorInput* input = argument(*l.call, at); input && input->tensors.size() == 1)
                out = broadcast(out, input->tensors.front());
        w.elements = elements(out);
    } else if (rule.write == "reduce") {
        w = reduced(l, *first);
    } else if (rule.write == "pool") {
        w = pooled(l, *first);
    } else if (rule.write == "size") {
        w = resized(l, *first);
    } else {
        w.elements = elements(*first);
    }
    w.bytes = w.elements * size_of_result(l, rule, remarks);
    return w;
}

}  // namespace

const OperatorInput* argument(const OperatorCall& call, int position) {
    if (position < 0 || std::size_t(position) >= call.inputs.size()) return nullptr;
    const OperatorInput& input = call.inputs[std::size_t(position)];
    return input.tensors.empty() ? nullptr : &input;
}

const std::string& value_at(const OperatorCall& call, int position) {
    static const std::string kNothing;
    const bool known = position >= 0 && std::size_t(position) < call.inputs.size();
    return known ? call.inputs[std::size_t(position)].value : kNothing;
}

double element_bytes(const OperatorInput& input, std::string_view kernel, std::vector<std::string>& remarks) {
    if (const auto size = type_size(input.type)) return *size;
    if (const auto size = type_size_in_kernel(kernel)) return *size;
    static const std::string kAssumed = "the type was not recorded: taken as 4 bytes";
    if (std::find(remarks.begin(), remarks.end(), kAssumed) == remarks.end()) remarks.push_back(kAssumed);
    return 4;
}

Described stream(const Launch& launch, double read, double written, double flop) {
    Described out;
    Layer layer;
    layer.name = launch.call ? launch.call->name.str() : std::string(launch.kernel());
    layer.precision = Precision::fp32;
    // Streaming layers count elements of one size; bytes of mixed types are given as the FP32 elements of the same
    // size.
    Streaming s;
    s.kind = StreamingKind::elementwise;
    s.read[0] = read / 4;
    s.written = written / 4;
    layer.op = s;
    out.layer = std::move(layer);
    out.flop = Flops{flop};
    out.share = launch.share;
    if (read + written <= 0) out.fault = "its tensors are empty";
    return out;
}

Described describe_stream(const Launch& l, const StreamRule& rule) {
    if (rule.write == "gather") return gathered(l, rule);
    std::vector<std::string> remarks;
    if (rule.write == "grid") {
        if (l.call->inputs.empty() || l.call->inputs.front().tensors.empty())
            return Described::refused("shapes of its operands were not recorded");
        const double n = grid_elements(*l.activity), size = element_bytes(l.call->inputs.front(), l.kernel(), remarks);
        Described d = stream(l, n * size, n * size, 0);
        d.remarks.emplace_back(
            "indices were not recorded: as many elements as the grid covers, without the reads of the indices");
        return d;
    }
    double read = 0, largest = 0;
    for (const int at : rule.read) {
        const OperatorInput* input = argument(*l.call, at);
        if (!input) continue;
        read += stored_elements(*input) * element_bytes(*input, l.kernel(), remarks);
        largest = std::max(largest, elements(*input));
    }
    const Written w = written_by(l, rule, remarks);
    if (!w.fault.empty()) return Described::refused(w.fault);
    if (read <= 0 && w.bytes <= 0) return Described::refused("shapes of its operands were not recorded");
    Described d = stream(l, read, w.bytes, rule.flop * std::max(largest, w.elements));
    d.remarks = std::move(remarks);
    return d;
}

}  // namespace gambrel::trace_detail
