// What a GPU programming interface must do for the probes: compile, allocate, move bytes, launch and time. CUDA and
// OpenCL are the two behind it, so that the probes themselves, their walks and their proofs, run under PoCL in every
// test. Invariant: launch and launch_many have waited for the end, not longer than kLongestLaunch, and report a failure
// of the device instead of a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "measure/gpu/kernel_source.hpp"

namespace gambrel::measure_detail {

class Buffer {
public:
    virtual ~Buffer() = default;
    [[nodiscard]] virtual std::size_t size() const = 0;
};
class Program {
public:
    virtual ~Program() = default;
};

using Argument = std::variant<const Buffer*, std::uint32_t, float, double>;
struct Launch {
    const Program* program = nullptr;
    std::uint32_t groups = 1;
    std::uint32_t threads = 1;
    std::vector<Argument> arguments;
};

// What the driver says while a kernel runs.
struct Condition {
    std::optional<Frequency> clock;
    std::optional<std::string> throttled;
    std::uint64_t code = 0;  // hash of the code that was launched; 0 if the backend does not see it
};

// A sample takes milliseconds; a launch that takes this long has hung.
inline constexpr Seconds kLongestLaunch{10};

enum class Direction : std::uint8_t { host_to_device, device_to_host };

class Backend {
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual const Target& target() const = 0;

    virtual Result<std::unique_ptr<Program>> compile(const KernelSource& source) = 0;
    virtual Result<std::unique_ptr<Buffer>> allocate(std::size_t bytes) = 0;
    // `offset` is in bytes of the buffer.
    virtual Result<void> write(const Buffer& to, std::span<const std::byte> from, std::size_t offset = 0) = 0;
    virtual Result<void> read(std::span<std::byte> to, const Buffer& from, std::size_t offset = 0) = 0;
    // Where kernels see the buffer; none where an address on the device is not the host's business.
    [[nodiscard]] virtual std::optional<std::uint64_t> address(const Buffer&) const { return std::nullopt; }

    virtual Result<Seconds> launch(const Launch& launch) = 0;                           // time on the device
    virtual Result<Seconds> launch_many(const Launch& launch, std::int64_t count) = 0;  // time of the host, all of them
    // From or to memory that the driver can reach without a copy of its own. The host's side is `pinned_bytes`.
    virtual Result<std::span<std::byte>> pinned_bytes(std::size_t count) = 0;
    virtual Result<Seconds> transfer(Direction direction, const Buffer& buffer, std::size_t bytes,
                                     std::int64_t count) = 0;

    // Of the last launch.
    [[nodiscard]] virtual Condition condition() const { return {}; }
    // Why every further call would fail, if so.
    [[nodiscard]] virtual std::optional<std::string> lost() const { return std::nullopt; }
    // What will be compiled, most urgent first.
    virtual void expect(std::vector<KernelSource>) {}
    // From now on counters count every launch of the kernel `entry`, until stop_counting returns the sum.
    virtual Result<void> start_counting(const std::string& entry);
    virtual Result<LevelBytes> stop_counting() { return LevelBytes{}; }
    // ProbeAction::gemm; a backend without a library says so.
    virtual Result<Preparation> prepare_gemm(const Probe& probe);
};

}  // namespace gambrel::measure_detail
