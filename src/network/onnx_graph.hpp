// Who gives and who takes each tensor of an ONNX graph. Knows no shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/onnx_messages.hpp"

namespace gambrel::network_detail {

class OnnxGraph {
public:
    explicit OnnxGraph(const OnnxModel& model) : model_(model) {
        for (std::size_t i = 0; i < model.nodes.size(); ++i) {
            for (const std::string_view name : model.nodes[i].outputs) producers_.emplace(name, i);
            for (const std::string_view name : model.nodes[i].inputs) ++uses_[name];
            for (const std::string_view name : model.nodes[i].inputs) consumers_[name] = i;
        }
        for (const OnnxValueInfo& output : model.outputs) uses_[output.name] += 2;  // must be kept
    }
    [[nodiscard]] const OnnxNode& node(std::size_t i) const { return model_.nodes[i]; }
    [[nodiscard]] std::size_t size() const { return model_.nodes.size(); }
    [[nodiscard]] std::optional<std::size_t> producer(std::string_view name) const {
        const auto it = producers_.find(name);
        return it == producers_.end() ? std::nullopt : std::optional(it->second);
    }
    [[nodiscard]] std::size_t uses(std::string_view name) const {
        const auto it = uses_.find(name);
        return it == uses_.end() ? 0 : it->second;
    }
    // The node that takes a tensor, where it is the only one.
    [[nodiscard]] std::optional<std::size_t> only_consumer(std::string_view name) const {
        return uses(name) == 1 ? std::optional(consumers_.at(name)) : std::nullopt;
    }
    [[nodiscard]] bool is(std::size_t i, std::initializer_list<std::string_view> ops) const {
        const OnnxNode& n = model_.nodes[i];
        const bool own = n.domain.empty() || n.domain == "ai.onnx";
        return own && !n.outputs.empty() && std::find(ops.begin(), ops.end(), n.op) != ops.end();
    }

private:
    const OnnxModel& model_;
    std::unordered_map<std::string_view, std::size_t> producers_, consumers_, uses_;
};

}  // namespace gambrel::network_detail
