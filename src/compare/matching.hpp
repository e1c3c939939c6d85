// Which row of one side belongs to which of the other. Every row is used once.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <gambrel/compare.hpp>

namespace gambrel::compare_detail {

struct Match {
    std::optional<std::size_t> before, after;
    bool by_base_name = false;
};

// `by` is not automatic.
std::vector<Match> matched(const Analysis& before, const Analysis& after, MatchBy by);
MatchBy chosen(const Analysis& before, const Analysis& after);

}  // namespace gambrel::compare_detail
