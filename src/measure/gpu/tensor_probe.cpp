#include <algorithm>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

class TensorProbe final : public PreparedProbe {
public:
    TensorProbe(const Gpu& gpu, const TensorKernel& kernel, int units, bool random)
        : backend_(gpu.backend),
          kernel_(kernel),
          random_(random),
          groups_(static_cast<std::uint32_t>(units * kernel.groups_per_unit)) {}

    Result<void> build() {
        auto program = backend_->compile(tensor_source(kernel_, random_));
        if (!program) return tl::unexpected(program.error());
        program_ = std::move(*program);
        return allocate_all(*backend_, {{&out_, numbers() * sizeof(double)}, {&times_, groups_ * kGroupTimeBytes}});
    }

    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        Sample sample;
        for (std::int64_t left = repetitions; left > 0 && !sample.fault; left -= std::min(left, kMostTrips)) {
            const std::uint32_t zero = 0;
            const auto time = backend_->launch(
                {program_.get(),
                 groups_,
                 static_cast<std::uint32_t>(kernel_.threads),
                 {out_.get(), times_.get(), zero, static_cast<std::uint32_t>(std::min(left, kMostTrips))}});
            if (!time) return tl::unexpected(time.error());
            sample.time += *time;
            auto fault = check();
            if (!fault) return tl::unexpected(fault.error());
            sample.fault = std::move(*fault);
            // Two groups of tcgen05 on one SM would run one after the other, at half the rate and unseen.
            const Occupancy occupancy = kernel_.groups_per_unit == 1 ? Occupancy::one_group_per_unit : Occupancy::any;
            if (auto noted = note_times(sample, *backend_, *times_, groups_, occupancy); !noted)
                return tl::unexpected(noted.error());
        }
        sample.flop = flop_per_trip(kernel_) * groups_ * static_cast<double>(repetitions);
        return sample;
    }

private:
    static constexpr double kNeverEnded = -2;  // what tensor_tcgen05.cu leaves then

    [[nodiscard]] std::size_t numbers() const {
        return std::size_t{groups_} * static_cast<std::size_t>(kernel_.threads);
    }

    Result<std::optional<std::string>> check() {
        std::vector<double> found(numbers());
        if (const auto read = backend_->read(std::as_writable_bytes(std::span(found)), *out_); !read)
            return tl::unexpected(read.error());
        for (std::size_t i = 0; i < found.size(); ++i) {
            const double expected = expected_sum(kernel_, static_cast<int>(i) % kernel_.threads);
            if (found[i] == kNeverEnded) return std::string("the products did not end within 2^34 cycles");
            if (found[i] != expected) return fmt::format("sum of thread {} is {}, expected {}", i, found[i], expected);
        }
        std::fill(found.begin(), found.end(), -1.0);
        if (const auto wrote = backend_->write(*out_, std::as_bytes(std::span(found))); !wrote)
            return tl::unexpected(wrote.error());
        return std::optional<std::string>{};
    }

    std::shared_ptr<Backend> backend_;
    TensorKernel kernel_;
    bool random_;
    std::uint32_t groups_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Buffer> out_, times_;
};

}  // namespace

Result<Preparation> prepare_tensor(const Gpu& gpu, const Probe& probe) {
    const Target& target = gpu.backend->target();
    if (target.dialect != Dialect::cuda) return refusal("Tensor Cores can only be used through CUDA");
    const TensorKernel* row = find_tensor_kernel(probe, target.cc, target.accelerated);
    if (row == nullptr) return refusal(tensor_refusal(probe, target.cc));
    if (row->least_compiler > target.compiler)
        return refusal(fmt::format("needs NVRTC {}.{}, found {}.{}", row->least_compiler / 100,
                                   row->least_compiler % 100, target.compiler / 100, target.compiler % 100));
    TensorKernel kernel = *row;
    // Tensor memory, and the registers of wgmma, hold just the accumulators of the row.
    if (probe.chains > 0 && kernel.path == MatrixPath::warp) kernel.chains = probe.chains;
    auto made = std::make_unique<TensorProbe>(
        gpu, kernel, probe.units > 0 ? std::min(probe.units, gpu.units) : gpu.units, probe.random);
    if (auto built = made->build(); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
