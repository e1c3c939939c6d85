// Runs the parts of an exploration here or on all ranks of mpirun, writes designs as they come, and keeps the state
// that a killed run goes on from.
#pragma once

#include <string>

#include "explore/search.hpp"

namespace gambrel::app {

struct RunFlags {
    std::string designs;  // a file that gets every design within the limits; empty: none
    std::string resume;   // the checkpoint; empty: none
    int threads = 0;
    bool quiet = false;
};

// Keeps what is found in the order of parts.
class Recorder {
public:
    Recorder(const Exploration& exploration, const RunFlags& flags);
    // Reads the checkpoint, cuts the designs file to what it says, or begins both.
    Result<bool> open();
    bool add(std::uint64_t part, const Exploration::Part& found);  // false: writing failed, or Ctrl-C
    Result<bool> close();                                          // false: not all parts were done
    [[nodiscard]] std::uint64_t next() const { return state_.next; }
    [[nodiscard]] const SearchResult& result() const { return state_.result; }
    ~Recorder();

private:
    bool save();
    struct Files;
    const Exploration& exploration_;
    const RunFlags& flags_;
    Checkpoint state_;
    std::unique_ptr<Files> files_;
};

// Ranks of mpirun; one where there is none or the build has no MPI.
class World {
public:
    World();
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    // On rank 0: hands out parts and records what comes back. On others: works until told to stop.
    void share(const Exploration& exploration, Recorder* recorder, const RunFlags& flags) const;
    // Rank 0's word for all.
    [[nodiscard]] bool agreed(bool mine) const;

private:
    int rank_ = 0, size_ = 1;
    bool started_ = false;
};

}  // namespace gambrel::app
