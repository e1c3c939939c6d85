// Keeps what a search finds in the order of its parts: the result, every design in a CSV file if asked for, and the
// checkpoint that a killed run resumes from.
// Invariant: a checkpoint never counts bytes of the designs file that are not there.
#pragma once

#include <chrono>
#include <string>

#include "base/output_file.hpp"
#include "explore/locked_file.hpp"
#include "explore/search.hpp"

namespace gambrel::explore_detail {

class Recorder {
public:
    Recorder(const Exploration& exploration, const ExploreRequest& request);
    // Locks both files. Reads the checkpoint and cuts the designs file to what it counts, or begins both.
    Result<void> open();
    bool add(std::uint64_t part, const Exploration::Part& found);  // false: stop; writing failed or the caller asks to
    void stop() { stopped_ = true; }
    Result<void> close();
    [[nodiscard]] std::uint64_t next() const { return state_.next; }
    [[nodiscard]] const Checkpoint& state() const { return state_; }

private:
    using Clock = std::chrono::steady_clock;
    Result<void> open_checkpoint();
    Result<void> open_designs();
    bool save();
    void show_progress();

    const Exploration& exploration_;
    const ExploreRequest& request_;
    Checkpoint state_;
    base_detail::OutputGuard guard_;
    LockedFile lock_, designs_;
    bool resumed_ = false, failed_ = false, stopped_ = false;
    std::uint64_t evaluated_before_ = 0;
    Clock::time_point started_ = Clock::now(), saved_ = Clock::now();
};

// The heading and a row of the designs file.
std::string design_heading(const Space& space);
std::string design_line(const Space& space, const Design& design, double base_time);

}  // namespace gambrel::explore_detail
