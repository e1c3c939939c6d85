// The ranks of an MPI run, or the one process where there is none. MPI is started only if a launcher started us, so the
// binary needs no MPI at run time otherwise than to load its library.
#pragma once

#include <string>
#include <vector>

namespace gambrel::app {

class Ranks {
public:
    Ranks();
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    // "{rank}" and "{local}" (the rank on this node) replaced by their numbers.
    [[nodiscard]] std::string filled(std::string text) const;
    // All ranks' texts on rank 0, in order; empty on the others.
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine) const;
    static bool built_with_mpi();

private:
    int rank_ = 0, size_ = 1, local_ = 0;
    bool started_ = false;
};

}  // namespace gambrel::app
