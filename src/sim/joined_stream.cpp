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
            parts_.push_back(std::move(part));
        }
        kernel_ends_.push_back(end);
    }
}

std::int64_t JoinedStream::end_of(std::int64_t kernel) const { return kernel_ends_[static_cast<std::size_t>(kernel)]; }

JoinedStream::Place JoinedStream::place(std::int64_t cta) const {
    const auto part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), cta) - ends_.begin());
    return {part, part == 0 ? cta : cta - ends_[part - 1]};
}

std::int64_t JoinedStream::steps(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->steps(at.cta);
}

void JoinedStream::open(std::int64_t cta, CtaState& state) const {
    const Place at = place(cta);
    state.part = at.part;
    parts_[at.part]->open(at.cta, state);
}

void JoinedStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    parts_[state.part]->step(state, step, out);
}

void JoinedStream::close(CtaState& state, std::vector<Access>& out) const { parts_[state.part]->close(state, out); }

double JoinedStream::work(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->work(at.cta);
}

double JoinedStream::shared_memory_bytes(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->shared_memory_bytes(at.cta);
}

}  // namespace gambrel::sim_detail
