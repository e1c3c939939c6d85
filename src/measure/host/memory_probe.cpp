#include <algorithm>

#include <fmt/format.h>

#include "measure/host/host_device.hpp"
#include "measure/host/kernels.hpp"

namespace gambrel::measure_detail {
namespace {

class MemoryProbe final : public HostProbe {
public:
    using HostProbe::HostProbe;

    Result<Sample> run(Bytes set, std::int64_t passes) override {
        const std::size_t each = bytes_of_unit(set);
        for (int i = 0; i < units_; ++i)
            if (each > arena(i).size()) return failure(title(probe_), "a working set beyond what was prepared");
        const std::size_t n = each / parts() / kGrain * kGrain / sizeof(std::uint64_t);  // words of one array
        if (n == 0) return failure(title(probe_), fmt::format("{} is too small a working set", binary_text(set)));
        if (device_.owner != this || n != filled_) fill(n);
        ++run_;
        std::vector<std::uint64_t> sums(static_cast<std::size_t>(units_));
        const auto words = [&](int me, std::size_t array) { return arena(me).words() + array * n; };
        // What is larger than any cache is written past them.
        const bool stream = probe_.level == Level::dram;
        poison(n);
        const HostKernels& k = host_kernels();
        Sample s = timed([&](int me) {
            switch (probe_.action) {
                case ProbeAction::load:
                    sums[static_cast<std::size_t>(me)] = k.load(words(me, 0), n, passes);
                    break;
                case ProbeAction::store:
                    k.store(words(me, 0), n, passes, run_, stream);
                    break;
                case ProbeAction::copy:
                    k.copy(words(me, 0), words(me, 1), n, passes, stream);
                    break;
                default:
                    k.triad(reinterpret_cast<double*>(words(me, 0)), reinterpret_cast<const double*>(words(me, 1)),
                            reinterpret_cast<const double*>(words(me, 2)), static_cast<double>(run_), n, passes,
                            stream);
            }
        });
        s.bytes = Bytes{static_cast<double>(n * parts() * sizeof(std::uint64_t))} * static_cast<double>(passes) *
                  static_cast<double>(units_);
        if (probe_.action == ProbeAction::triad)
            s.flop = 2.0 * static_cast<double>(n) * static_cast<double>(passes) * units_;
        for (int i = 0; i < units_ && !s.fault; ++i)
            s.fault = fault_of(i, n, passes, sums[static_cast<std::size_t>(i)]);
        return s;
    }

private:
    static constexpr std::size_t kGrain = 512;  // bytes: whole rounds of every unrolled loop up to 64-byte vectors

    [[nodiscard]] std::size_t parts() const {
        return probe_.action == ProbeAction::triad ? 3 : probe_.action == ProbeAction::copy ? 2 : 1;
    }
    [[nodiscard]] std::size_t bytes_of_unit(Bytes set) const {
        return static_cast<std::size_t>(probe_.sharing == WorkingSetSharing::split ? set.value() / units_
                                                                                   : set.value());
    }
    [[nodiscard]] Arena& arena(int unit) const {
        return device_.arenas()[static_cast<std::size_t>(probe_.sharing == WorkingSetSharing::whole ? 0 : unit)];
    }

    // Positions that are looked at: spread over the array, the last always among them.
    template <class F>
    void each_position(std::size_t n, F look) const {
        constexpr std::size_t kLooks = 64;
        for (std::size_t i = 1; i <= kLooks; ++i) look(i * n / kLooks - (i * n >= kLooks ? 1 : 0));
    }

    void fill(std::size_t n) {
        const int writers = probe_.sharing == WorkingSetSharing::whole ? 1 : units_;
        device_.team().run(writers, [&](int me) {
            std::uint64_t* const w = arena(me).words();
            auto* const numbers = reinterpret_cast<double*>(w);
            if (probe_.action == ProbeAction::triad) {
                std::fill(numbers + n, numbers + 2 * n, 1.0);
                std::fill(numbers + 2 * n, numbers + 3 * n, 2.0);
            } else {
                for (std::size_t i = 0; i < n * parts(); ++i) w[i] = i;
            }
        });
        device_.owner = this;
        filled_ = n;
    }

    // Results of the run before must not pass for those of this one.
    void poison(std::size_t n) {
        if (probe_.action == ProbeAction::load) return;
        for (int i = 0; i < units_; ++i)
            each_position(n, [&](std::size_t at) { arena(i).words()[at] = ~std::uint64_t{0}; });
    }

    [[nodiscard]] std::optional<std::string> fault_of(int unit, std::size_t n, std::int64_t passes,
                                                      std::uint64_t sum) const {
        if (probe_.action == ProbeAction::load) {
            const std::uint64_t once = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
            const std::uint64_t expected = once * static_cast<std::uint64_t>(passes);
            if (sum == expected) return std::nullopt;
            return fmt::format("the sum of what was loaded is {}, expected {}", sum, expected);
        }
        const std::uint64_t* const w = arena(unit).words();
        std::optional<std::string> fault;
        each_position(n, [&](std::size_t at) {
            const double number = reinterpret_cast<const double*>(w)[at];
            const bool right = probe_.action == ProbeAction::store  ? w[at] == run_
                               : probe_.action == ProbeAction::copy ? w[at] == n + at
                                                                    : number == 1.0 + 2.0 * static_cast<double>(run_);
            if (!right) fault = fmt::format("word {} of {} does not hold what was to be written", at, n);
        });
        return fault;
    }

    std::size_t filled_ = 0;
    std::uint64_t run_ = 0;
};

}  // namespace

std::unique_ptr<PreparedProbe> memory_probe(Host& device, const Probe& probe) {
    return std::make_unique<MemoryProbe>(device, probe);
}

}  // namespace gambrel::measure_detail
