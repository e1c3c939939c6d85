#include "network/onnx_inputs.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "network/check.hpp"

namespace gambrel {
namespace network_detail {
namespace {

using Symbols = std::unordered_map<std::string_view, std::int64_t>;

class Inputs {
public:
    Inputs(const OnnxModel& model, const OnnxOptions& options, const std::string& source, OnnxState& state)
        : model_(model), options_(options), source_(source), state_(state) {}

    Result<Symbols> run() {
        for (const OnnxValueInfo& input : model_.inputs)
            if (!state_.values.contains(input.name)) data_.push_back(&input);
        check_options();
        // Given shapes first: a symbol that one input fixes holds for the others.
        for (const OnnxValueInfo* input : data_)
            if (const NamedShape* shape = given(input->name)) learn(*input, *shape);
        for (const OnnxValueInfo* input : data_) set(*input);
        if (!faults_.empty()) return tl::unexpected(std::move(faults_));
        return std::move(symbols_);
    }

private:
    void fault(std::string_view input, std::string what) {
        faults_.push_back({fmt::format("{}: input \"{}\"", source_, input), std::move(what)});
    }

    [[nodiscard]] const NamedShape* given(std::string_view name) const {
        for (const NamedShape& shape : options_.shapes)
            if (shape.name == name) return &shape;
        return nullptr;
    }

    void check_options() {
        std::vector<std::string> names;
        for (const OnnxValueInfo* input : data_) names.emplace_back(input->name);
        for (const NamedShape& shape : options_.shapes)
            if (std::find(names.begin(), names.end(), shape.name) == names.end())
                fault(shape.name, fmt::format("there is none of this name{}; there are {}",
                                              did_you_mean(shape.name, names), fmt::join(names, ", ")));
        if (options_.batch && (*options_.batch < 1 || *options_.batch > kLargestSize))
            faults_.push_back({"batch", fmt::format("is {}, expected 1 to 2^31", *options_.batch)});
    }

    void learn(const OnnxValueInfo& input, const NamedShape& shape) {
        if (input.has_shape && input.dims.size() != shape.dims.size()) {
            fault(input.name, fmt::format("{} has {} dimensions, the file's has {}", shape_text(shape.dims),
                                          shape.dims.size(), input.dims.size()));
            return;
        }
        for (std::size_t i = 0; i < input.dims.size(); ++i)
            if (!input.dims[i].symbol.empty()) symbols_.emplace(input.dims[i].symbol, shape.dims[i]);
    }

    void set(const OnnxValueInfo& input) {
        OnnxValue& value = state_.values[input.name];
        value.type = input.type;
        value.known = true;
        if (const NamedShape* shape = given(input.name)) {
            value.dims = shape->dims;
        } else if (!input.has_shape) {
            fault(input.name,
                  fmt::format("has no shape in the file; give one, such as --shape {}:1x3x224x224", input.name));
        } else {
            for (std::size_t i = 0; i < input.dims.size(); ++i) value.dims.push_back(dim(input, i));
        }
        for (const std::int64_t dim : value.dims)
            if (dim < 1 || dim > kLargestSize) {
                fault(input.name, fmt::format("is {}, expected dimensions from 1 to 2^31", shape_text(value.dims)));
                break;
            }
        if (element_count(value.dims) > 0x1p53)
            fault(input.name, fmt::format("{} is too large", shape_text(value.dims)));
        state_.network.inputs.push_back({std::string(input.name), value.dims});
    }

    std::int64_t dim(const OnnxValueInfo& input, std::size_t i) {
        const OnnxDim& dim = input.dims[i];
        const bool is_batch = i == 0 && (input.dims.size() >= 2 || dim.value < 1);
        if (is_batch && options_.batch) {
            if (dim.value > 0) state_.file_batch = dim.value, state_.batch = *options_.batch;
            if (!dim.symbol.empty()) symbols_.emplace(dim.symbol, *options_.batch);
            return *options_.batch;
        }
        if (dim.value > 0) return dim.value;
        if (const auto it = symbols_.find(dim.symbol); !dim.symbol.empty() && it != symbols_.end()) return it->second;
        if (i == 0) {
            state_.network.notes.push_back(
                {fmt::format("{}: input \"{}\"", source_, input.name), "the batch is not in the file; taken as 1"});
            if (!dim.symbol.empty()) symbols_.emplace(dim.symbol, 1);
            return 1;
        }
        fault(input.name, fmt::format("dimension {} is not in the file ({}); give it with --shape {}:...", i,
                                      dim.symbol.empty() ? "unnamed" : dim.symbol, input.name));
        return 1;
    }

    const OnnxModel& model_;
    const OnnxOptions& options_;
    const std::string& source_;
    OnnxState& state_;
    std::vector<const OnnxValueInfo*> data_;
    Symbols symbols_;
    Errors faults_;
};

}  // namespace

Result<Symbols> resolve_inputs(const OnnxModel& model, const OnnxOptions& options, const std::string& source,
                               OnnxState& state) {
    return Inputs(model, options, source, state).run();
}

}  // namespace network_detail

Result<NamedShape> shape_from(std::string_view text) {
    // A name may hold colons ("serving_default_x:0"), a shape cannot.
    const std::size_t colon = text.rfind(':');
    const std::string where = fmt::format("shape \"{}\"", text);
    constexpr const char* kExpected = "expected NAME:DIMxDIM..., such as data:1x3x224x224";
    if (colon == std::string_view::npos || colon == 0) return failure(where, kExpected);
    NamedShape shape{std::string(text.substr(0, colon)), {}};
    std::string_view rest = text.substr(colon + 1);
    while (true) {
        const std::size_t end = std::min(rest.find('x'), rest.size());
        std::int64_t dim = 0;
        const auto [stop, status] = std::from_chars(rest.data(), rest.data() + end, dim);
        if (status != std::errc{} || stop != rest.data() + end || dim < 1 || dim > network_detail::kLargestSize)
            return failure(where, kExpected);
        shape.dims.push_back(dim);
        if (end == rest.size()) return shape;
        rest.remove_prefix(end + 1);
    }
}

}  // namespace gambrel
