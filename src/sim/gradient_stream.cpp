#include "sim/gradient_stream.hpp"

#include <utility>

#include "sim/plain_stream.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {

GradientStream::GradientStream(Parts parts, std::int64_t columns) : StreamOfParts(std::move(parts)), columns_(columns) {
    for (const std::unique_ptr<AddressStream>& part : this->parts()) rows_ += part->ctas() / columns_;
}

StreamOfParts::Place GradientStream::place(std::int64_t cta) const {
    const std::int64_t column = cta / rows_;
    std::int64_t row = cta % rows_;
    for (std::size_t part = 0;; ++part) {
        const std::int64_t rows = parts()[part]->ctas() / columns_;
        if (row < rows) return {part, column * rows + row};
        row -= rows;
    }
}

std::unique_ptr<AddressStream> gradient_stream(std::vector<Operands> classes, const Mapping& mapping,
                                               const OnGpu& gpu) {
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
            auto part = std::make_unique<TiledStream>(std::move(one), walked, OnGpu{.l1 = gpu.l1});
            columns = batch * (mapping.transposed_view ? part->rows() : part->columns());
            parts.push_back(std::move(part));
        }
    }
    return std::make_unique<GradientStream>(std::move(parts), columns);
}

}  // namespace gambrel::sim_detail
