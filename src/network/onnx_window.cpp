#include "network/onnx_window.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "network/check.hpp"

namespace gambrel::network_detail {
namespace {

Dims list_of(const NodeRun& run, std::string_view name, std::size_t size, std::int64_t if_absent, std::int64_t least) {
    Dims list = run.list(name);
    if (list.empty()) list.assign(size, if_absent);
    if (list.size() != size) throw NotInferred{fmt::format("{} has {} values, expected {}", name, list.size(), size)};
    for (const std::int64_t value : list)
        if (value < least || value > kLargestSize)
            throw NotInferred{fmt::format("{} has {}, expected {} or more", name, value, least)};
    return list;
}

Window given(const NodeRun& run, std::size_t rank, Dims filter) {
    Window w;
    w.filter = filter.empty() ? list_of(run, "kernel_shape", rank, 1, 1) : std::move(filter);
    for (const std::int64_t size : w.filter)
        if (size < 1 || size > kLargestSize) throw NotInferred{fmt::format("a filter of size {}", size)};
    w.stride = list_of(run, "strides", rank, 1, 1);
    w.dilation = list_of(run, "dilations", rank, 1, 1);
    const Dims pads = list_of(run, "pads", 2 * rank, 0, 0);
    w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    return w;
}

}  // namespace

Window window_of(const NodeRun& run, const Dims& input, Dims filter) {
    Window w = given(run, input.size(), std::move(filter));
    const std::string_view automatic = run.text("auto_pad");
    const bool ceil = run.integer("ceil_mode", 0) != 0;
    for (std::size_t i = 0; i < input.size(); ++i) {
        if (w.filter[i] > (1 << 20) || w.dilation[i] > (1 << 20))
            throw NotInferred{fmt::format("a filter of size {} and dilation {}", w.filter[i], w.dilation[i])};
        const std::int64_t extent = w.dilation[i] * (w.filter[i] - 1) + 1;
        if (automatic == "VALID") w.begin[i] = w.end[i] = 0;
        if (automatic.starts_with("SAME")) {
            const std::int64_t outputs = (input[i] + w.stride[i] - 1) / w.stride[i];
            const std::int64_t pad = std::max<std::int64_t>(0, (outputs - 1) * w.stride[i] + extent - input[i]);
            const bool upper = automatic == "SAME_UPPER";
            w.begin[i] = upper ? pad / 2 : pad - pad / 2;
            w.end[i] = pad - w.begin[i];
        }
        const std::int64_t room = input[i] + w.begin[i] + w.end[i] - extent;
        if (room < 0)
            throw NotInferred{fmt::format("a window of {} over {} elements", extent, input[i] + w.begin[i] + w.end[i])};
        std::int64_t outputs = (room + (ceil ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
        // A window that would begin in the padding behind has no output.
        if (ceil && (outputs - 1) * w.stride[i] >= input[i] + w.begin[i]) --outputs;
        w.output.push_back(outputs);
    }
    return w;
}

Window transposed_window_of(const NodeRun& run, const Dims& input, Dims filter) {
    Window w = given(run, input.size(), std::move(filter));
    const Dims beyond = list_of(run, "output_padding", input.size(), 0, 0);
    const Dims wanted = run.list("output_shape");
    const std::string_view automatic = run.text("auto_pad");
    if (!wanted.empty() && wanted.size() != input.size())
        throw NotInferred{fmt::format("output_shape has {} values, expected {}", wanted.size(), input.size())};
    for (std::size_t i = 0; i < input.size(); ++i) {
        if (w.filter[i] > (1 << 20) || w.dilation[i] > (1 << 20))
            throw NotInferred{fmt::format("a filter of size {} and dilation {}", w.filter[i], w.dilation[i])};
        const std::int64_t extent = w.dilation[i] * (w.filter[i] - 1) + 1;
        const std::int64_t whole = (input[i] - 1) * w.stride[i] + beyond[i] + extent;
        std::int64_t outputs = whole - w.begin[i] - w.end[i];
        if (!wanted.empty() || automatic.starts_with("SAME")) {
            outputs = wanted.empty() ? input[i] * w.stride[i] : wanted[i];
            if (outputs < 1 || outputs > kLargestSize) throw NotInferred{fmt::format("an output of size {}", outputs)};
            const std::int64_t pad = std::max<std::int64_t>(0, whole - outputs);
            w.begin[i] = automatic == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
            w.end[i] = pad - w.begin[i];
        }
        w.output.push_back(outputs);
    }
    return w;
}

}  // namespace gambrel::network_detail
