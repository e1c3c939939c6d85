// What a LaunchModel keeps: the launches of each call, and answers that were found before.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gambrel/estimate.hpp>

#include "trace/described.hpp"
#include "trace/launch_model.hpp"
#include "trace/network_match.hpp"
#include "trace/same_kernel.hpp"

namespace gambrel::trace_detail {

bool has_shapes(const OperatorCall& call);

// Work and bytes of one launch, kept for all that are equal to it.
struct Answer {
    PerPipe<Known<Flops>> work;
    PerLevel<Known<Bytes>> bytes;
    std::vector<Symbol> reasons;
    bool zero_flop = false;
    std::string fault;
    LaunchLayer of;  // kept where someone asks for it
};

using Key = std::array<std::uint64_t, 9>;

struct LaunchModel::State {
    const Timeline* timeline = nullptr;
    const std::vector<Machine>* machines = nullptr;
    OperatorTable table;
    std::vector<Estimator> estimators;
    std::vector<std::size_t> order;                           // kernels by rank, instance and start
    std::vector<std::pair<std::uint32_t, std::uint32_t>> of;  // of each activity: its part of `order`
    std::map<Key, Answer> known;
    mutable std::unordered_map<Symbol, bool> communicates;
    mutable std::unordered_map<Symbol, Role> roles;
    std::set<std::string> assumed;
    NetworkMatch match;
    SameKernels same;
    std::optional<MixtureOfExperts> experts;  // of the network that the user names
    bool keeps_layers = false;
    const Answer* last = nullptr;  // that add_to gave

    [[nodiscard]] Role role(Symbol kernel) const {
        const auto [it, fresh] = roles.try_emplace(kernel, Role::main);
        if (fresh) it->second = role_of(kernel.str());
        return it->second;
    }
    void index_instances();
    const OperatorCall* ruled(std::int32_t call, const OperatorRule*& rule) const;
    Launch launch_of(std::size_t index) const;
    Described described(const Launch& launch) const;
    [[nodiscard]] std::int32_t matched(std::size_t index) const { return match.of.empty() ? -1 : match.of[index]; }
    Described of_network(const Launch& launch, std::int32_t layer) const;
    void match_open(const std::vector<Layer>& network);
    Answer answer(const Launch& launch, std::int32_t layer);
    const Answer& known_answer(const Launch& launch, std::int32_t layer);
    // Whether an operator with shapes is known to have launched it.
    [[nodiscard]] bool is_named(std::size_t index) const;
    // What all launches of the same kernel that it may repeat agree on; null: they do not, or there are none.
    const Answer* repeated(std::size_t index, Symbol& op);
    void amounts(const Launch& launch, const Described& d, Answer& out);
};

}  // namespace gambrel::trace_detail
