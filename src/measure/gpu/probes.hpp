// The probes of a GPU, one maker for each family of actions. Each owns its buffers and programs, and checks each
// result.
#pragma once

#include <memory>

#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

// Shared by all probes of a device.
struct Gpu {
    std::shared_ptr<Backend> backend;
    int units = 1;
};

Result<Preparation> prepare_arithmetic(const Gpu& gpu, const Probe& probe);
Result<Preparation> prepare_tensor(const Gpu& gpu, const Probe& probe);
Result<Preparation> prepare_memory(const Gpu& gpu, const Probe& probe, Bytes largest);
Result<Preparation> prepare_shared(const Gpu& gpu, const Probe& probe, Bytes largest);
Result<Preparation> prepare_chase(const Gpu& gpu, const Probe& probe, Bytes largest);
Result<Preparation> prepare_empty(const Gpu& gpu);
Result<Preparation> prepare_link(const Gpu& gpu, const Probe& probe, Bytes largest);

// The kernel that a memory probe runs on sets of this size.
KernelSource memory_kernel_source(const Target& target, const Probe& probe, Bytes set);

// A device over a backend: the probes above, picked by action.
std::unique_ptr<Device> make_gpu_device(DeviceInfo info, Gpu gpu);

inline Result<Preparation> refusal(std::string reason) { return Preparation{nullptr, std::move(reason)}; }
inline Result<Preparation> prepared(std::unique_ptr<PreparedProbe> probe) { return Preparation{std::move(probe), {}}; }

// Several buffers at once; the first that cannot be allocated is the error.
struct BufferWanted {
    std::unique_ptr<Buffer>* buffer;
    std::size_t bytes;
};
Result<void> allocate_all(Backend& backend, std::initializer_list<BufferWanted> wanted);
// The three words that each group leaves; see TIMED_REPORT in the preludes.
inline constexpr std::size_t kGroupTimeBytes = 3 * sizeof(std::uint64_t);
// Adds what the groups of one launch report to the sample: its clock, and whether groups that must each have an SM of
// their own did not.
enum class Occupancy : std::uint8_t { any, one_group_per_unit };
Result<void> note_times(Sample& sample, Backend& backend, const Buffer& times, std::uint32_t groups,
                        Occupancy occupancy);
// The first `count` words of `out` must add up to `expected`: nothing, or the fault. Spoils the words for the next run.
Result<std::optional<std::string>> check_word_sum(Backend& backend, const Buffer& out, std::size_t count,
                                                  std::uint32_t expected);

// Kernels count trips in 32 bits; longer runs are several launches.
inline constexpr std::int64_t kMostTrips = 1LL << 30;

}  // namespace gambrel::measure_detail
