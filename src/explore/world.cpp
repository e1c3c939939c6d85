#include <fmt/format.h>
#include <gambrel/explore.hpp>

namespace gambrel {

Errors disagreement(World& world, std::string_view mine) {
    const std::vector<std::string> all = world.gather(mine);
    std::string verdict;
    for (std::size_t rank = 1; rank < all.size() && verdict.empty(); ++rank)
        if (all[rank] != all[0])
            verdict = fmt::format("the ranks of one run were asked for different things. Rank 0: {}. Rank {}: {}",
                                  all[0], rank, all[rank]);
    verdict = world.broadcast(verdict);
    if (verdict.empty()) return {};
    return {{"mpirun", std::move(verdict)}};
}

}  // namespace gambrel
