// Sectors by tensor over all CTAs of a layer, every request counted.
#pragma once

#include <map>
#include <vector>

#include "sim/stream.hpp"

namespace gambrel::sim_detail {

inline std::map<Tensor, std::uint64_t> requested(const Layer& l, const Mapping& mapping) {
    const auto stream = make_stream(l, mapping);
    std::vector<Access> out;
    CtaState state;
    for (std::int64_t cta = 0; cta < stream->ctas(); ++cta) {
        stream->open(cta, state);
        for (std::int64_t step = 0; step < stream->steps(cta); ++step) stream->step(state, step, out);
        stream->close(state, out);
    }
    std::map<Tensor, std::uint64_t> sectors;
    for (const Access access : out) sectors[static_cast<Tensor>(tensor_of(access.line()))] += access.count();
    return sectors;
}

}  // namespace gambrel::sim_detail
