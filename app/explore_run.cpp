#include "app/explore_run.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gambrel/explore_report.hpp>

#include "app/interrupt.hpp"
#include "app/output.hpp"
#include "app/progress.hpp"
#include "base/output_file.hpp"

namespace gambrel::app {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Recorder::Files {
    std::ofstream designs;
    ProgressBar bar;
    InterruptGuard interrupt;
    Clock::time_point started = Clock::now(), saved = Clock::now();
    std::uint64_t first = 0;
    bool failed = false;
    explicit Files(bool quiet) : bar(quiet) {}
};

Recorder::Recorder(const Exploration& exploration, const RunFlags& flags)
    : exploration_(exploration), flags_(flags), files_(std::make_unique<Files>(flags.quiet)) {
    state_.fingerprint = exploration.fingerprint();
}
Recorder::~Recorder() = default;

Result<bool> Recorder::open() {
    const bool goes_on = !flags_.resume.empty() && fs::exists(flags_.resume);
    if (goes_on) {
        std::ifstream file(flags_.resume, std::ios::binary);
        std::stringstream text;
        text << file.rdbuf();
        auto read = checkpoint_from(text.str(), flags_.resume);
        if (!read) return tl::unexpected(read.error());
        if (read->fingerprint != state_.fingerprint)
            return failure(flags_.resume,
                           "was written for another question: another network, machine, space, limit, cost "
                           "table or seed. Give another file, or remove it");
        state_ = std::move(*read);
    }
    if (!flags_.designs.empty()) {
        std::error_code fault;
        if (goes_on && state_.bytes > 0) {
            const auto size = fs::file_size(flags_.designs, fault);
            if (fault || size < state_.bytes)
                return failure(flags_.designs, fmt::format("has fewer than the {} bytes that {} speaks of",
                                                           state_.bytes, flags_.resume));
            fs::resize_file(flags_.designs, state_.bytes, fault);
        }
        files_->designs.open(flags_.designs,
                             goes_on ? std::ios::app | std::ios::binary : std::ios::trunc | std::ios::binary);
        if (!files_->designs || fault) return failure(flags_.designs, "cannot be written");
        if (!goes_on || state_.bytes == 0) {
            const std::string heading = design_heading(exploration_.space());
            files_->designs << heading;
            state_.bytes = heading.size();
        }
    }
    files_->first = state_.next;
    return true;
}

// The designs first: a checkpoint must never speak of bytes that are not there.
bool Recorder::save() {
    if (files_->designs.is_open() && !files_->designs.flush()) return false;
    files_->saved = Clock::now();
    if (flags_.resume.empty()) return true;
    const std::string temporary = flags_.resume + ".new";
    std::error_code fault;
    if (!base_detail::write_file(temporary, to_text(state_), {})) return false;
    fs::rename(temporary, flags_.resume, fault);
    return !fault;
}

bool Recorder::add(std::uint64_t part, const Exploration::Part& found) {
    state_.next = part + 1;
    state_.result.merge(found.result);
    std::string lines;
    for (const Design& d : found.designs) lines += design_line(exploration_.space(), d, exploration_.base_time());
    files_->designs << lines;
    state_.bytes += lines.size();
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - files_->started).count();
    const double done = static_cast<double>(state_.next), all = static_cast<double>(exploration_.parts());
    const double here = done - static_cast<double>(files_->first);
    files_->bar.show(done / all, fmt::format("{:.0f} parts/s, {:.0f} s left", here / std::max(1e-3, seconds),
                                             (all - done) * seconds / std::max(1.0, here)));
    if (now - files_->saved > std::chrono::milliseconds(500) && !save()) files_->failed = true;
    return !files_->failed && !InterruptGuard::asked();
}

Result<bool> Recorder::close() {
    if (files_->failed || !save())
        return failure(flags_.resume.empty() ? flags_.designs : flags_.resume, "cannot be written");
    return state_.next >= exploration_.parts();
}

}  // namespace gambrel::app
