#include <algorithm>

#include <fmt/format.h>

#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

class TensorProbe final : public PreparedProbe {
public:
    TensorProbe(const Gpu& gpu, const TensorKernel& kernel, int units)
        : backend_(gpu.backend), kernel_(kernel), groups_(static_cast<std::uint32_t>(units * kernel.groups_per_unit)) {}

    Result<void> build() {
        auto program = backend_->compile(tensor_source(kernel_));
        if (!program) return tl::unexpected(program.error());
        program_ = std::move(*program);
        return allocate_all(*backend_, {{&out_, numbers() * sizeof(double)}, {&cycles_, sizeof(std::uint64_t)}});
    }

    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        Sample sample;
        std::uint64_t cycles = 0;
        for (std::int64_t left = repetitions; left > 0 && !sample.fault; left -= std::min(left, kMostTrips)) {
            const std::uint32_t zero = 0;
            const auto time = backend_->launch(
                {program_.get(),
                 groups_,
                 static_cast<std::uint32_t>(kernel_.threads),
                 {out_.get(), cycles_.get(), zero, static_cast<std::uint32_t>(std::min(left, kMostTrips))}});
            if (!time) return tl::unexpected(time.error());
            sample.time += *time;
            auto fault = check();
            if (!fault) return tl::unexpected(fault.error());
            sample.fault = std::move(*fault);
            const auto counted = read_cycles(*backend_, *cycles_);
            if (!counted) return tl::unexpected(counted.error());
            cycles += *counted;
        }
        sample.flop = flop_per_trip(kernel_) * groups_ * static_cast<double>(repetitions);
        note_condition(sample, *backend_, cycles);
        return sample;
    }

private:
    [[nodiscard]] std::size_t numbers() const {
        return std::size_t{groups_} * static_cast<std::size_t>(kernel_.threads);
    }

    Result<std::optional<std::string>> check() {
        std::vector<double> found(numbers());
        if (const auto read = backend_->read(std::as_writable_bytes(std::span(found)), *out_); !read)
            return tl::unexpected(read.error());
        const double expected = expected_sum(kernel_);
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i] != expected) return fmt::format("sum of thread {} is {}, expected {}", i, found[i], expected);
        std::fill(found.begin(), found.end(), -1.0);
        if (const auto wrote = backend_->write(*out_, std::as_bytes(std::span(found))); !wrote)
            return tl::unexpected(wrote.error());
        return std::optional<std::string>{};
    }

    std::shared_ptr<Backend> backend_;
    TensorKernel kernel_;
    std::uint32_t groups_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Buffer> out_, cycles_;
};

}  // namespace

Result<Preparation> prepare_tensor(const Gpu& gpu, const Probe& probe) {
    const Target& target = gpu.backend->target();
    if (target.dialect != Dialect::cuda) return refusal("Tensor Cores are reached through CUDA alone");
    const TensorKernel* row = find_tensor_kernel(probe, target.cc, target.accelerated);
    if (row == nullptr) return refusal(tensor_refusal(probe, target.cc));
    TensorKernel kernel = *row;
    // Tensor memory holds so many accumulators and no more; wgmma's registers too.
    if (probe.chains > 0 && kernel.path == MatrixPath::warp) kernel.chains = probe.chains;
    auto made =
        std::make_unique<TensorProbe>(gpu, kernel, probe.units > 0 ? std::min(probe.units, gpu.units) : gpu.units);
    if (auto built = made->build(); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
