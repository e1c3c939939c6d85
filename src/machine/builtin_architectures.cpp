// Which architecture a machine has. A command mostly needs one of them, and reading them all would take a third of the
// time of a short one: the files are indexed by what they cover, and one is read when somebody asks for it.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/embedded.hpp"
#include "machine/covered.hpp"

namespace gambrel {
namespace {

class Builtin {
public:
    Builtin() {
        for (const EmbeddedText& text : embedded("architectures"))
            files_.push_back({text, machine_detail::covered_capabilities(text.text)});
        std::sort(files_.begin(), files_.end(),
                  [](const File& a, const File& b) { return a.covers.front() < b.covers.front(); });
        reading_ = std::make_unique<std::once_flag[]>(files_.size());
        read_.resize(files_.size());
        known_ = std::vector<std::atomic<const Architecture*>>(files_.size());
        for (int i = 0; i < kSide * kSide; ++i)
            by_capability_[static_cast<std::size_t>(i)] = nearest({i / kSide, i % kSide});
    }

    // Mapping a layer asks for it: no lock once it is known.
    const Architecture& of(ComputeCapability wanted) {
        const auto [major, minor] = wanted;
        const bool listed = major >= 0 && minor >= 0 && major < kSide && minor < kSide;
        return at(listed ? by_capability_[static_cast<std::size_t>(major * kSide + minor)] : nearest(wanted));
    }
    const Architecture& newest() { return at(files_.size() - 1); }
    std::span<const Architecture> all() {
        for (std::size_t i = 0; i < files_.size(); ++i) static_cast<void>(at(i));
        return read_;
    }

private:
    struct File {
        EmbeddedText text;
        std::vector<ComputeCapability> covers;
    };

    // The newest that is not newer.
    [[nodiscard]] std::size_t nearest(ComputeCapability wanted) const {
        std::size_t found = 0;
        ComputeCapability best{0, 0};
        for (std::size_t i = 0; i < files_.size(); ++i)
            for (const ComputeCapability& cc : files_[i].covers)
                if (cc <= wanted && cc >= best) {
                    best = cc;
                    found = i;
                }
        return found;
    }

    const Architecture& at(std::size_t i) {
        const Architecture* known = known_[i].load(std::memory_order_acquire);
        return known != nullptr ? *known : read(i);
    }
    const Architecture& read(std::size_t i) {
        std::call_once(reading_[i], [&] {
            const auto& [name, text] = files_[i].text;
            auto parsed = parse_architecture(text, fmt::format("data/architectures/{}.json", name));
            // Data of the build itself, which the tests load: a fault here is an internal error.
            if (!parsed) throw std::logic_error(to_text(parsed.error()));
            read_[i] = std::move(*parsed);
            known_[i].store(&read_[i], std::memory_order_release);
        });
        return read_[i];
    }

    // Compute capabilities up to 15.15, each with its architecture.
    static constexpr int kSide = 16;
    std::array<std::size_t, kSide * kSide> by_capability_{};
    std::vector<File> files_;  // by what they cover first
    std::unique_ptr<std::once_flag[]> reading_;
    std::vector<Architecture> read_;  // empty until known_
    std::vector<std::atomic<const Architecture*>> known_;
};

Builtin& builtin() {
    static Builtin instance;
    return instance;
}

}  // namespace

std::span<const Architecture> architectures() { return builtin().all(); }

const Architecture& architecture_of(const Machine& machine) {
    if (machine.own_architecture) return *machine.own_architecture;
    if (!machine.compute_capability) return builtin().newest();
    return builtin().of(*machine.compute_capability);
}

}  // namespace gambrel
