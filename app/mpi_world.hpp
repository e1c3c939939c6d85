// The ranks of an MPI run as a World, or one process where there is none. MPI is started only if a launcher started
// this process, so that without one nothing of MPI is used but its library is loaded.
#pragma once

#include <string>
#include <vector>

#include <gambrel/explore.hpp>

namespace gambrel::app {

class MpiWorld : public World {
public:
    MpiWorld();
    ~MpiWorld() override;

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int ranks_on_node() const override { return on_node_; }
    std::vector<std::string> gather(std::string_view mine) override;
    std::string broadcast(std::string_view text) override;
    void send(int to, std::string_view text) override;
    std::string receive(int from) override;
    std::optional<Message> received() override;

    // "{rank}" and "{local}" (the rank on this node) replaced by their numbers.
    [[nodiscard]] std::string filled(std::string text) const;
    static bool built_with_mpi();

private:
    int rank_ = 0, size_ = 1, local_ = 0, on_node_ = 1;
    bool started_ = false;
};

}  // namespace gambrel::app
