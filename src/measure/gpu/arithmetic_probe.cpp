#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "measure/gpu/expected_chains.hpp"
#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

std::size_t element_bytes(Pipe pipe) {
    if (pipe == Pipe::fp64) return 8;
    return pipe == Pipe::fp16 || pipe == Pipe::bf16 ? 2 : 4;
}

double half_value(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                             : exponent == 31 ? (mantissa == 0 ? HUGE_VAL : std::nan(""))
                                              : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

template <class T>
T element(std::span<const std::byte> bytes, std::size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

double value_at(Pipe pipe, std::span<const std::byte> bytes, std::size_t index) {
    switch (pipe) {
        case Pipe::fp64:
            return element<double>(bytes, index);
        case Pipe::fp32:
            return element<float>(bytes, index);
        case Pipe::fp16:
            return half_value(element<std::uint16_t>(bytes, index));
        case Pipe::bf16:
            return std::bit_cast<float>(std::uint32_t{element<std::uint16_t>(bytes, index)} << 16U);
        default:
            return element<std::uint32_t>(bytes, index);
    }
}

Argument scalar(Pipe pipe, double x) {
    if (pipe == Pipe::fp64) return x;
    if (pipe == Pipe::int32) return static_cast<std::uint32_t>(x);
    return static_cast<float>(x);
}

class ArithmeticProbe final : public PreparedProbe {
public:
    ArithmeticProbe(const Gpu& gpu, const Probe& probe, const Shape& shape)
        : backend_(gpu.backend), probe_(probe), shape_(shape) {
        const int units = probe.units > 0 ? std::min(probe.units, gpu.units) : gpu.units;
        groups_ = static_cast<std::uint32_t>(backend_->target().cpu ? units : units * kGroupsPerUnit);
        lanes_ = lanes(backend_->target(), probe.pipe);
    }

    Result<void> build() {
        auto program = backend_->compile(arithmetic_source(backend_->target(), probe_.action, probe_.pipe, shape_));
        if (!program) return tl::unexpected(program.error());
        program_ = std::move(*program);
        return allocate_all(*backend_,
                            {{&out_, numbers() * element_bytes(probe_.pipe)}, {&times_, groups_ * kGroupTimeBytes}});
    }

    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        Sample sample;
        // Each launch starts its chains again, so each is checked.
        for (std::int64_t left = repetitions; left > 0 && !sample.fault; left -= std::min(left, kMostTrips)) {
            const std::int64_t trips = std::min(left, kMostTrips);
            const auto time = launch(trips);
            if (!time) return tl::unexpected(time.error());
            sample.time += *time;
            auto fault = check(trips);
            if (!fault) return tl::unexpected(fault.error());
            sample.fault = std::move(*fault);
            if (auto noted = note_times(sample, *backend_, *times_, groups_, Occupancy::any); !noted)
                return tl::unexpected(noted.error());
        }
        const double flop_per_step = probe_.action == ProbeAction::fma ? 2 : 1;
        sample.flop = flop_per_step * static_cast<double>(numbers()) * shape_.chains * shape_.unroll *
                      static_cast<double>(repetitions);
        return sample;
    }

private:
    static constexpr int kGroupsPerUnit = 4;

    [[nodiscard]] std::size_t numbers() const {
        return static_cast<std::size_t>(groups_) * static_cast<std::size_t>(shape_.threads * lanes_);
    }

    Result<Seconds> launch(std::int64_t trips) {
        const ArithmeticArguments with = arithmetic_arguments(probe_.action, probe_.pipe);
        const auto as_scalar = [&](double x) { return scalar(probe_.pipe, x); };
        return backend_->launch(
            {program_.get(),
             groups_,
             static_cast<std::uint32_t>(shape_.threads),
             {out_.get(), times_.get(), as_scalar(with.a), as_scalar(with.b), as_scalar(with.lane_step),
              as_scalar(with.chain_step), static_cast<std::uint32_t>(trips)}});
    }

    Result<std::optional<std::string>> check(std::int64_t trips) {
        if (trips != followed_trips_) {
            for (int lane = 0; lane < 4; ++lane)
                expected_[static_cast<std::size_t>(lane)] =
                    followed_sum(probe_.action, probe_.pipe, lane, shape_.chains, trips * shape_.unroll);
            followed_trips_ = trips;
        }
        std::vector<std::byte> bytes(out_->size());
        if (const auto read = backend_->read(bytes, *out_); !read) return tl::unexpected(read.error());
        for (std::size_t i = 0; i < numbers(); ++i) {
            const double found = value_at(probe_.pipe, bytes, i);
            if (found != expected_[i & 3U])
                return fmt::format("number {} is {}, expected {} after {} steps", i, found, expected_[i & 3U],
                                   trips * shape_.unroll);
        }
        // The next launch must write all of it again.
        std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
        if (const auto wrote = backend_->write(*out_, bytes); !wrote) return tl::unexpected(wrote.error());
        return std::optional<std::string>{};
    }

    std::shared_ptr<Backend> backend_;
    Probe probe_;
    Shape shape_;
    std::uint32_t groups_ = 1;
    int lanes_ = 1;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Buffer> out_, times_;
    std::int64_t followed_trips_ = -1;
    std::array<double, 4> expected_{};
};

}  // namespace

Result<Preparation> prepare_arithmetic(const Gpu& gpu, const Probe& probe) {
    const Target& target = gpu.backend->target();
    if (std::string reason = arithmetic_refusal(target, probe.action, probe.pipe); !reason.empty())
        return refusal(std::move(reason));
    auto made = std::make_unique<ArithmeticProbe>(gpu, probe, arithmetic_shape(target, probe.chains));
    if (auto built = made->build(); !built) return tl::unexpected(built.error());
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
