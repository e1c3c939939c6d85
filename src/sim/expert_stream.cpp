#include "sim/expert_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/arithmetic.hpp"
#include "sim/joined_stream.hpp"
#include "sim/plain_stream.hpp"
#include "sim/tiled_stream.hpp"

namespace gambrel::sim_detail {
namespace {

// Activations stay in 16 bits between the kernels, whatever multiplies.
constexpr std::int64_t kBetween = 2;  // bytes
constexpr ElementSize kBetweenSize{kBetween * kSixteenths};

Index line_of(std::int64_t size, std::int64_t stride, std::int64_t offset = 0) {
    Index index{{Digit{}, Digit{}, Digit{}, Digit{}, {size, stride}}};
    index.offset = offset;
    return index;
}

// Row-major rows x columns of a tensor, from element `first` on.
AddressedOperand matrix(Tensor tensor, ElementSize element, std::int64_t rows, std::int64_t columns,
                        std::int64_t first) {
    return {tensor, element, line_of(rows, columns, first), line_of(columns, 1)};
}

class Experts {
public:
    Experts(const Layer& layer, const Mapping& mapping)
        : moe_(std::get<MixtureOfExperts>(layer.op)),
          sizes_(layer),
          mapping_(mapping),
          inner_(std::max<std::int64_t>(1, std::llround(moe_.local_intermediate()))) {
        // Both operands lie along k and are copied to shared memory past L1, 16 bytes a thread.
        const std::int64_t vector = std::max<std::int64_t>(1, 16 * kSixteenths / sizes_.tensors.data);
        const auto lanes = static_cast<std::int32_t>(std::max<std::int64_t>(1, mapping.cta.k / vector));
        mapping_.a = {.lanes = std::max(1, 32 / lanes), .vector = narrow(vector), .k_major = true, .through_l1 = false};
        mapping_.b = mapping_.a;
        mapping_.family = KernelFamily::tiled;
        for (const double load : expert_loads(moe_)) {
            const auto rows = std::llround(load);
            if (rows <= 0) continue;
            loads_.push_back(rows);
            assignments_ += rows;
        }
    }

    [[nodiscard]] std::unique_ptr<AddressStream> stream() const {
        const std::int64_t wide = (moe_.gated ? 2 : 1) * inner_, hidden = moe_.hidden;
        const std::int64_t features = 0, activated = assignments_ * wide, back = activated + assignments_ * inner_;
        std::vector<JoinedStream::Grid> kernels(4);
        std::int64_t first = 0, filter = 0;
        for (const std::int64_t rows : loads_) {
            // The tokens of an expert are rows anywhere among all; each token is a row of topk experts.
            const std::int64_t token = std::min(first % moe_.tokens, moe_.tokens - std::min(rows, moe_.tokens));
            kernels[0].push_back(product(matrix(Tensor::input, sizes_.tensors, rows, hidden, token * hidden), wide,
                                         hidden, filter,
                                         matrix(Tensor::workspace, kBetweenSize, rows, wide, features + first * wide)));
            filter += wide * hidden;
            kernels[2].push_back(
                product(matrix(Tensor::workspace, kBetweenSize, rows, inner_, activated + first * inner_), hidden,
                        inner_, filter, matrix(Tensor::workspace, kBetweenSize, rows, hidden, back + first * hidden)));
            filter += inner_ * hidden;
            first += rows;
        }
        const auto workspace = [](std::int64_t element, std::int64_t count) {
            return PlainStream::Part{base_address(Tensor::workspace) + static_cast<std::uint64_t>(element * kBetween),
                                     static_cast<std::uint64_t>(count * kBetween)};
        };
        const auto plain = [&](PlainStream::Part read, PlainStream::Part written) {
            return std::make_unique<PlainStream>(std::vector{read}, written, Mapping{});
        };
        kernels[1].push_back(
            plain(workspace(features, assignments_ * wide), workspace(activated, assignments_ * inner_)));
        const std::int64_t output = moe_.tokens * hidden * sizes_.tensors.all() / kSixteenths;
        kernels[3].push_back(plain(workspace(back, assignments_ * hidden),
                                   {base_address(Tensor::output), static_cast<std::uint64_t>(output)}));
        return std::make_unique<JoinedStream>(std::move(kernels));
    }

private:
    // rows x k times the k x n of the weights that begin at element `filter`, each output's weights together.
    [[nodiscard]] std::unique_ptr<AddressStream> product(AddressedOperand a, std::int64_t n, std::int64_t k,
                                                         std::int64_t filter, AddressedOperand c) const {
        Operands all;
        all.view = {a.side.size(), n, k, 1};
        all.a = std::move(a);
        all.b = matrix(Tensor::filter, sizes_.filter, n, k, filter);
        all.c = std::move(c);
        return std::make_unique<TiledStream>(std::move(all), mapping_);
    }

    const MixtureOfExperts& moe_;
    ElementSizes sizes_;
    Mapping mapping_;
    std::int64_t inner_;
    std::vector<std::int64_t> loads_;  // rows of each expert that has any
    std::int64_t assignments_ = 0;
};

}  // namespace

std::unique_ptr<AddressStream> expert_stream(const Layer& layer, const Mapping& mapping) {
    return Experts(layer, mapping).stream();
}

}  // namespace gambrel::sim_detail
