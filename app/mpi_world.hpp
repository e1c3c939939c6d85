// The ranks of an MPI run as a World, or one process where there is none. The library that knows MPI is opened only if
// a launcher started this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gambrel/explore.hpp>

#include "app/mpi/ranks.hpp"

namespace gambrel::app {

class MpiWorld : public World {
public:
    MpiWorld();

    [[nodiscard]] int rank() const override { return ranks_ ? ranks_->rank() : 0; }
    [[nodiscard]] int size() const override { return ranks_ ? ranks_->size() : 1; }
    [[nodiscard]] int ranks_on_node() const override { return ranks_ ? ranks_->ranks_on_node() : 1; }
    std::vector<std::string> gather(std::string_view mine) override;
    std::string broadcast(std::string_view text) override;
    void send(int to, std::string_view text) override;
    std::string receive(int from) override;
    std::optional<Message> received() override;

    // "{rank}" and "{local}" (the rank on this node) replaced by their numbers.
    [[nodiscard]] std::string filled(std::string text) const;
    // Whether the library that knows MPI can be opened; `why` says what the loader says if not.
    static bool available(std::string* why = nullptr);

private:
    std::unique_ptr<Ranks> ranks_;
};

}  // namespace gambrel::app
