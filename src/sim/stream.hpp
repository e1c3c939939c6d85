// What a kernel asks of memory, CTA by CTA and step by step, as warps' requests. Invariant: what a CTA asks does not
// depend on when it runs, so SMs can be simulated apart. It knows no cache.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <gambrel/mapping.hpp>

#include "sim/access.hpp"
#include "sim/line_groups.hpp"
#include "sim/operand.hpp"
#include "sim/step_merger.hpp"

namespace gambrel::sim_detail {

constexpr Action load_action(const WarpLoad& load) { return load.through_l1 ? Action::read : Action::read_step; }

// What a running CTA keeps between steps; each stream uses the members that it needs.
struct CtaState {
    std::int64_t cta = 0;
    std::int64_t batch = 0, first_k = 0, end_k = 0, split = 0;
    std::size_t part = 0;
    std::int64_t panel_a = 0, panel_b = 0;
    std::int64_t tile_a = 0, tile_b = 0;
    std::size_t piece = 0;         // of stream-K
    std::int64_t piece_first = 0;  // the step of the CTA that it begins with
    Stretch rows, columns, depth;
    StepPattern pattern_a, pattern_b;
};

class AddressStream {
public:
    AddressStream() = default;
    AddressStream(const AddressStream&) = delete;
    AddressStream& operator=(const AddressStream&) = delete;
    virtual ~AddressStream() = default;

    [[nodiscard]] virtual std::int64_t ctas() const = 0;
    // Launched one after the other: the CTAs of each follow those of the one before it, up to end_of(kernel).
    [[nodiscard]] virtual std::int64_t kernels() const { return 1; }
    [[nodiscard]] virtual std::int64_t end_of(std::int64_t kernel) const { return (kernel + 1) * (ctas() / kernels()); }
    [[nodiscard]] virtual std::int64_t steps(std::int64_t cta) const = 0;
    virtual void open(std::int64_t cta, CtaState& state) const = 0;
    virtual void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const = 0;
    virtual void close(CtaState& state, std::vector<Access>& out) const = 0;  // what the CTA stores at its end
    // About how much it loads and stores, to scale samples by.
    [[nodiscard]] virtual double work(std::int64_t cta) const { return static_cast<double>(steps(cta)) + 1; }
    [[nodiscard]] virtual double shared_memory_bytes(std::int64_t cta) const = 0;
    // That its accesses speak of.
    [[nodiscard]] virtual const LineGroups& groups() const {
        static const LineGroups none;
        return none;
    }
};

// What a stream may know of the GPU that it runs on: how requests may be made fewer without changing what they come to.
// By default every request stands by itself.
struct OnGpu {
    KnownL1 l1 = {};
    bool groups = false;
    std::int64_t resident =
        0;  // CTAs that run at the same time, for kernels that share out the last of them; 0: unknown
    [[nodiscard]] Repeats repeats() const {
        return l1.sets > 0 && l1.ways >= kMostRepeated ? Repeats::as_hits : Repeats::as_requests;
    }
};

// The kernel that `mapping` makes of a layer without faults().
std::unique_ptr<AddressStream> make_stream(const Layer& layer, const Mapping& mapping, const OnGpu& gpu = {});

}  // namespace gambrel::sim_detail
