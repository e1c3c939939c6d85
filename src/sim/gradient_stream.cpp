#include "sim/gradient_stream.hpp"

#include <utility>

#include "sim/plain_stream.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {

GradientStream::GradientStream(std::vector<std::unique_ptr<AddressStream>> parts, std::int64_t columns)
    : parts_(std::move(parts)), columns_(columns) {
    for (const std::unique_ptr<AddressStream>& part : parts_) rows_ += part->ctas() / columns_;
}

GradientStream::Place GradientStream::place(std::int64_t cta) const {
    const std::int64_t column = cta / rows_;
    std::int64_t row = cta % rows_;
    for (std::size_t part = 0;; ++part) {
        const std::int64_t rows = parts_[part]->ctas() / columns_;
        if (row < rows) return {part, column * rows + row};
        row -= rows;
    }
}

std::int64_t GradientStream::steps(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->steps(at.cta);
}

void GradientStream::open(std::int64_t cta, CtaState& state) const {
    const Place at = place(cta);
    state.part = at.part;
    parts_[at.part]->open(at.cta, state);
}

void GradientStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    parts_[state.part]->step(state, step, out);
}

void GradientStream::close(CtaState& state, std::vector<Access>& out) const { parts_[state.part]->close(state, out); }

double GradientStream::work(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->work(at.cta);
}

double GradientStream::shared_memory_bytes(std::int64_t cta) const {
    const Place at = place(cta);
    return parts_[at.part]->shared_memory_bytes(at.cta);
}

std::unique_ptr<AddressStream> gradient_stream(std::vector<Operands> classes, const Mapping& mapping) {
    // Pixels of all classes stand beside each other along M, so tiles are walked through along M.
    Mapping walked = mapping;
    walked.order = mapping.transposed_view ? CtaOrder::columns_first : CtaOrder::rows_first;
    walked.band = 1;
    std::vector<std::unique_ptr<AddressStream>> parts;
    std::int64_t columns = 1;
    for (Operands& one : classes) {
        const std::int64_t batch = one.view.batch;
        if (mapping.family != KernelFamily::tiled) {
            columns = batch;
            parts.push_back(std::make_unique<DepthwiseStream>(std::move(one), Pass::dgrad, walked));
        } else {
            auto part = std::make_unique<TiledStream>(std::move(one), walked);
            columns = batch * (mapping.transposed_view ? part->rows() : part->columns());
            parts.push_back(std::move(part));
        }
    }
    return std::make_unique<GradientStream>(std::move(parts), columns);
}

}  // namespace gambrel::sim_detail
