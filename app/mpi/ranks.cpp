// The ranks of an MPI run, in a library of its own that mpi_world.cpp opens when a launcher started this process:
// without one the program needs no library of MPI's.
#include "app/mpi/ranks.hpp"

// Not its C++ bindings, which MPI has withdrawn.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace gambrel::app {
namespace {

constexpr int kTag = 1;

// Of a message that has arrived.
std::string text_of(MPI_Status status) {
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(static_cast<std::size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
}

class MpiRanks : public Ranks {
public:
    MpiRanks() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
        MPI_Comm_rank(node, &local_);
        MPI_Comm_size(node, &on_node_);
        MPI_Comm_free(&node);
    }
    ~MpiRanks() override { MPI_Finalize(); }

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] int ranks_on_node() const override { return on_node_; }
    [[nodiscard]] int local() const override { return local_; }

    std::vector<std::string> gather(std::string_view mine) override {
        const int length = static_cast<int>(mine.size());
        std::vector<int> lengths(static_cast<std::size_t>(size_)), starts(lengths.size());
        MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
        int total = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) starts[i] = total, total += lengths[i];
        std::string all(rank_ == 0 ? static_cast<std::size_t>(total) : 0, '\0');
        MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                    MPI_COMM_WORLD);
        std::vector<std::string> texts;
        if (rank_ == 0)
            for (std::size_t i = 0; i < lengths.size(); ++i)
                texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
        return texts;
    }

    std::string broadcast(std::string_view text) override {
        int length = static_cast<int>(text.size());
        MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
        std::string all(rank_ == 0 ? text : std::string_view{});
        all.resize(static_cast<std::size_t>(length));
        MPI_Bcast(all.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
        return all;
    }

    void send(int to, std::string_view text) override {
        MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, kTag, MPI_COMM_WORLD);
    }

    std::string receive(int from) override {
        MPI_Status status;
        MPI_Probe(from, kTag, MPI_COMM_WORLD, &status);
        return text_of(status);
    }

    std::optional<Message> received() override {
        int waiting = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &waiting, &status);
        if (!waiting) return std::nullopt;
        return Message{status.MPI_SOURCE, text_of(status)};
    }

private:
    int rank_ = 0, size_ = 1, local_ = 0, on_node_ = 1;
};

}  // namespace
}  // namespace gambrel::app

extern "C" gambrel::app::Ranks* gambrel_open_ranks() {
    // One for each process: MPI is started once.
    return new gambrel::app::MpiRanks;
}
