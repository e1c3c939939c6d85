#include "explore/recorder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace gambrel::explore_detail {

namespace fs = std::filesystem;

std::string design_heading(const Space& space) {
    std::string out = "index,cost,speedup,time_s";
    for (const Axis& axis : space.axes) out += fmt::format(",{}", name(axis.resource));
    return out + "\n";
}

std::string design_line(const Space& space, const Design& d, double base_time) {
    std::string out = fmt::format("{},{},{},{}", d.index, d.cost, base_time / d.time, d.time);
    const Factors f = space.at(d.index);
    for (const Axis& axis : space.axes) out += fmt::format(",{}", f[axis.resource]);
    return out + "\n";
}

namespace {

std::uint64_t lines_in(const LockedFile& file, std::uint64_t bytes) {
    constexpr std::uint64_t kPiece = 1 << 20;
    std::uint64_t lines = 0;
    for (std::uint64_t at = 0; at < bytes; at += kPiece) {
        const std::string piece = file.read(at, static_cast<std::size_t>(std::min(kPiece, bytes - at)));
        lines += static_cast<std::uint64_t>(std::count(piece.begin(), piece.end(), '\n'));
    }
    return lines;
}

// Both files are locked, read again and continued, which a pipe or a device cannot be.
Result<void> can_be_continued(const std::string& path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    if (!fs::exists(status) || fs::is_regular_file(status)) return {};
    return failure(path,
                   "is not a regular file; expected one, or a new name, because a search that is resumed continues "
                   "this file. --csv writes to a pipe");
}

}  // namespace

Recorder::Recorder(const Exploration& exploration, const ExploreRequest& request)
    : exploration_(exploration), request_(request) {
    state_.fingerprint = exploration.fingerprint();
    for (const std::string& input : request.inputs) guard_.protect(input);
    if (request.force) guard_.force();
}

Result<void> Recorder::open() {
    if (!request_.resume.empty() && request_.resume == request_.designs)
        return failure(request_.resume, "is given for the checkpoint and for the designs; give two files");
    if (const auto opened = open_checkpoint(); !opened) return opened;
    if (const auto opened = open_designs(); !opened) return opened;
    evaluated_before_ = state_.result.evaluated;
    return {};
}

Result<void> Recorder::open_checkpoint() {
    const std::string& path = request_.resume;
    if (path.empty()) return {};
    if (const auto file = can_be_continued(path); !file) return file;
    if (const auto allowed = guard_.check_target(path); !allowed) return allowed;
    if (const auto locked = lock_.open(path + ".lock", path); !locked) return locked;
    lock_.remove_on_close();
    std::error_code fault;
    if (!fs::exists(path, fault)) {
        if (fault) return failure(path, fmt::format("cannot be read: {}", fault.message()));
        return {};
    }
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) return failure(path, "cannot be read");
    auto read = checkpoint_from(text.str(), path);
    if (!read) return tl::unexpected(read.error());
    if (read->fingerprint != state_.fingerprint)
        return failure(
            path,
            "was written for another request: another network, machine, space, limit, cost table or seed. Give "
            "another file, or remove this one");
    if (Errors wrong = faults(*read, exploration_, path); !wrong.empty()) return tl::unexpected(std::move(wrong));
    state_ = std::move(*read);
    resumed_ = true;
    if ((state_.bytes > 0) != !request_.designs.empty())
        return failure(path, state_.bytes > 0 ? "was written with --designs; resume with that file"
                                              : "was written without --designs, so the designs so far are lost; resume "
                                                "without it, or begin again with another checkpoint");
    return {};
}

Result<void> Recorder::open_designs() {
    const std::string& path = request_.designs;
    if (path.empty()) return {};
    if (const auto file = can_be_continued(path); !file) return file;
    const std::string heading = design_heading(exploration_.space());
    if (const auto allowed = guard_.check(path, heading); !allowed) return allowed;
    if (const auto locked = designs_.open(path, path); !locked) return locked;
    if (resumed_) {
        const std::string start = designs_.read(0, heading.size());
        if (designs_.size() < state_.bytes || start != heading ||
            lines_in(designs_, state_.bytes) != state_.result.kept + 1)
            return failure(
                path, fmt::format("does not hold the {} designs in {} bytes that {} counts; it is another file, or "
                                  "was changed",
                                  state_.result.kept, state_.bytes, request_.resume));
        if (!designs_.cut(state_.bytes)) return failure(path, "cannot be written");
        return {};
    }
    if (!designs_.cut(0) || !designs_.write(heading)) return failure(path, "cannot be written");
    state_.bytes = heading.size();
    return {};
}

bool Recorder::save() {
    saved_ = Clock::now();
    return request_.resume.empty() || base_detail::write_file(request_.resume, to_text(state_), guard_).has_value();
}

void Recorder::show_progress() {
    if (!request_.progress) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    const auto here = static_cast<double>(state_.result.evaluated - evaluated_before_);
    request_.progress(static_cast<double>(state_.next) / static_cast<double>(exploration_.parts()),
                      fmt::format("{:.0f} designs/s", here / std::max(1e-3, seconds)));
}

bool Recorder::add(std::uint64_t part, const Exploration::Part& found) {
    state_.next = part + 1;
    state_.result.merge(found.result);
    if (designs_.is_open()) {
        std::string lines;
        for (const Design& d : found.designs) lines += design_line(exploration_.space(), d, exploration_.base_time());
        if (!designs_.write(lines)) failed_ = true;
        state_.bytes += lines.size();
    }
    show_progress();
    if (!failed_ && Clock::now() - saved_ > std::chrono::milliseconds(500) && !save()) failed_ = true;
    if (request_.stop && request_.stop()) stopped_ = true;
    return !failed_ && !stopped_;
}

Result<void> Recorder::close() {
    if (failed_ || !save())
        return failure(request_.resume.empty() ? request_.designs : request_.resume, "cannot be written");
    return {};
}

}  // namespace gambrel::explore_detail
