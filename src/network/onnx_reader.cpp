#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <protozero/exception.hpp>

#include <gambrel/network.hpp>

#include "base/file_bytes.hpp"
#include "network/onnx_fold.hpp"
#include "network/onnx_inputs.hpp"
#include "network/onnx_messages.hpp"
#include "network/onnx_node.hpp"

namespace gambrel {
namespace {

using namespace network_detail;

constexpr std::int64_t kFirstOpset = 7, kLastOpset = 23;

Infer infer_of(const OnnxNode& node) {
    if (!node.domain.empty() && node.domain != "ai.onnx") return nullptr;
    for (const auto find : {matrix_operator, streaming_operator, shape_operator, movement_operator})
        if (const Infer infer = find(node.op)) return infer;
    return nullptr;
}

bool plausible(const Dims& dims) {
    for (const std::int64_t dim : dims)
        if (dim < 0 || dim > (std::int64_t{1} << 31)) return false;
    return element_count(dims) <= 0x1p53;
}

class Reading {
public:
    Reading(const OnnxModel& model, const OnnxOptions& options, const std::string& source)
        : model_(model), options_(options), source_(source) {}

    Result<Network> run() {
        state_.opset = model_.opset;
        state_.network.name = std::filesystem::path(source_).stem().string();
        state_.network.note = fmt::format("ONNX graph \"{}\", opset {}", model_.graph_name, model_.opset);
        if (model_.opset < kFirstOpset || model_.opset > kLastOpset)
            state_.network.notes.push_back({source_, fmt::format("opset {}; read as if from {} to {}, which are known",
                                                                 model_.opset, kFirstOpset, kLastOpset)});
        for (const OnnxTensor& tensor : model_.initializers)
            state_.values[tensor.name] = {plausible(tensor.dims), tensor.dims, tensor.type, tensor.values, true, false};
        auto symbols = resolve_inputs(model_, options_, source_, state_);
        if (!symbols) return tl::unexpected(std::move(symbols.error()));
        symbols_ = std::move(*symbols);
        for (const auto* infos : {&model_.infos, &model_.outputs})
            for (const OnnxValueInfo& info : *infos) infos_.emplace(info.name, &info);
        std::vector<std::size_t> first_layer;
        for (const OnnxNode& node : model_.nodes) {
            first_layer.push_back(state_.network.layers.size());
            step(node);
        }
        first_layer.push_back(state_.network.layers.size());
        if (options_.fused) note_folded(fold_patterns(model_, first_layer, state_));
        for (const OnnxValueInfo& output : model_.outputs)
            if (const auto it = state_.values.find(output.name); it != state_.values.end() && it->second.known)
                state_.network.outputs.push_back({std::string(output.name), it->second.dims});
        for (auto& [key, op] : unmodelled_) state_.network.unmodelled.push_back(std::move(op));
        std::stable_sort(state_.network.unmodelled.begin(), state_.network.unmodelled.end(),
                         [](const Unmodelled& a, const Unmodelled& b) { return a.bytes > b.bytes; });
        if (options_.precision) return with_precision(std::move(state_.network), *options_.precision);
        return std::move(state_.network);
    }

private:
    void step(const OnnxNode& node) {
        const std::size_t layers = state_.network.layers.size();
        try {
            for (const std::string_view output : node.outputs)
                if (!output.empty() && state_.values.contains(output))
                    throw NotInferred{fmt::format("its output \"{}\" was given before", output)};
            const Infer infer = infer_of(node);
            if (infer == nullptr) throw NotInferred{"the operator is not modelled"};
            NodeRun run(node, state_);
            infer(run);
        } catch (const NotInferred& why) {
            state_.network.layers.resize(layers);
            fall_back(node);
            list(node, why.reason);
        }
    }

    void note_folded(const FoldedPatterns& folded) {
        if (folded.attentions + folded.norms == 0) return;
        state_.network.notes.push_back({source_, fmt::format("{} attention and {} norm patterns of the graph are taken "
                                                             "as one kernel each; --fused none keeps their nodes apart",
                                                             folded.attentions, folded.norms)});
    }

    // The file's own word for shapes that could not be inferred. Stale if a batch was asked for that it does not have.
    void fall_back(const OnnxNode& node) {
        for (const std::string_view output : node.outputs) {
            if (output.empty() || state_.values.contains(output)) continue;
            OnnxValue& value = state_.values[output];
            value.trained = true;
            const auto it = infos_.find(output);
            if (it == infos_.end() || !it->second->has_shape || state_.batch || !options_.shapes.empty()) continue;
            value.type = it->second->type;
            value.known = true;
            for (const OnnxDim& dim : it->second->dims) {
                const auto symbol = symbols_.find(dim.symbol);
                value.dims.push_back(dim.value >= 0 || symbol == symbols_.end() ? dim.value : symbol->second);
            }
            if (!plausible(value.dims)) value = {};
        }
    }

    void list(const OnnxNode& node, const std::string& reason) {
        const std::string op = node.domain.empty() ? std::string(node.op) : fmt::format("{}.{}", node.domain, node.op);
        Unmodelled& entry = unmodelled_[{op, reason}];
        if (entry.count++ == 0) {
            entry.op = op, entry.reason = reason;
            entry.first = std::string(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name);
        }
        for (const auto* side : {&node.inputs, &node.outputs}) {
            for (const std::string_view name : *side) {
                if (name.empty()) continue;
                const auto it = state_.values.find(name);
                if (it != state_.values.end() && it->second.known)
                    entry.bytes += Bytes{element_count(it->second.dims) * onnx_element_bytes(it->second.type)};
                else
                    ++entry.unknown_shapes;
            }
        }
    }

    const OnnxModel& model_;
    const OnnxOptions& options_;
    const std::string& source_;
    OnnxState state_;
    std::unordered_map<std::string_view, std::int64_t> symbols_;
    std::unordered_map<std::string_view, const OnnxValueInfo*> infos_;
    std::map<std::pair<std::string, std::string>, Unmodelled> unmodelled_;
};

}  // namespace

Result<Network> read_onnx(std::string_view bytes, const std::string& source, const OnnxOptions& options) {
    try {
        const OnnxModel model = decode_onnx_model(bytes);
        if (!model.has_graph || model.nodes.empty())
            return failure(source, "holds no graph with nodes, expected an ONNX model");
        return Reading(model, options, source).run();
    } catch (const protozero::exception& damage) {
        return failure(source, fmt::format("is not an ONNX model, or is damaged: {}", damage.what()));
    }
}

Result<Network> load_onnx(const std::string& path, const OnnxOptions& options) {
    const auto bytes = base_detail::FileBytes::open(path);
    if (!bytes) return tl::unexpected(bytes.error());
    return read_onnx(bytes->view(), path, options);
}

}  // namespace gambrel
