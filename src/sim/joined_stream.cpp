#include "sim/joined_stream.hpp"

#include <algorithm>
#include <utility>

namespace gambrel::sim_detail {

JoinedStream::JoinedStream(std::vector<Grid> kernels) {
    std::int64_t end = 0;
    for (Grid& grid : kernels) {
        for (std::unique_ptr<AddressStream>& part : grid) {
            end += part->ctas();
            ends_.push_back(end);
            add(std::move(part));
        }
        kernel_ends_.push_back(end);
    }
}

std::int64_t JoinedStream::end_of(std::int64_t kernel) const { return kernel_ends_[static_cast<std::size_t>(kernel)]; }

StreamOfParts::Place JoinedStream::place(std::int64_t cta) const {
    const auto part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), cta) - ends_.begin());
    return {part, part == 0 ? cta : cta - ends_[part - 1]};
}

}  // namespace gambrel::sim_detail
