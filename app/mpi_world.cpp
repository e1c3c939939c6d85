#include "app/mpi_world.hpp"

#include <cstdlib>

#ifdef GAMBREL_HAVE_MPI
// Not its C++ bindings, which MPI has withdrawn.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace gambrel::app {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

#ifdef GAMBREL_HAVE_MPI

constexpr int kTag = 1;

// What Open MPI, MPICH, Intel MPI and Slurm's PMIx put into the environment of a rank.
bool launched() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
        if (std::getenv(name)) return true;
    return false;
}

// Of a message that has arrived.
std::string text_of(MPI_Status status) {
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string text(static_cast<std::size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_CHAR, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return text;
}

#endif

}  // namespace

#ifdef GAMBREL_HAVE_MPI

bool MpiWorld::built_with_mpi() { return true; }

MpiWorld::MpiWorld() {
    if (!launched()) return;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    started_ = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_);
    MPI_Comm_size(node, &on_node_);
    MPI_Comm_free(&node);
}

MpiWorld::~MpiWorld() {
    if (started_) MPI_Finalize();
}

std::vector<std::string> MpiWorld::gather(std::string_view mine) {
    if (!started_) return World::gather(mine);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_)), starts(lengths.size());
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    int total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) starts[i] = total, total += lengths[i];
    std::string all(rank_ == 0 ? static_cast<std::size_t>(total) : 0, '\0');
    MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    if (rank_ == 0)
        for (std::size_t i = 0; i < lengths.size(); ++i)
            texts.push_back(all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
}

std::string MpiWorld::broadcast(std::string_view text) {
    if (!started_) return World::broadcast(text);
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::string all(rank_ == 0 ? text : std::string_view{});
    all.resize(static_cast<std::size_t>(length));
    MPI_Bcast(all.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return all;
}

void MpiWorld::send(int to, std::string_view text) {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, kTag, MPI_COMM_WORLD);
}

std::string MpiWorld::receive(int from) {
    MPI_Status status;
    MPI_Probe(from, kTag, MPI_COMM_WORLD, &status);
    return text_of(status);
}

std::optional<World::Message> MpiWorld::received() {
    int waiting = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &waiting, &status);
    if (!waiting) return std::nullopt;
    return Message{status.MPI_SOURCE, text_of(status)};
}

#else

bool MpiWorld::built_with_mpi() { return false; }
MpiWorld::MpiWorld() = default;
MpiWorld::~MpiWorld() = default;
std::vector<std::string> MpiWorld::gather(std::string_view mine) { return World::gather(mine); }
std::string MpiWorld::broadcast(std::string_view text) { return World::broadcast(text); }
void MpiWorld::send(int to, std::string_view text) { World::send(to, text); }
std::string MpiWorld::receive(int from) { return World::receive(from); }
std::optional<World::Message> MpiWorld::received() { return World::received(); }

#endif

std::string MpiWorld::filled(std::string text) const {
    replace_all(text, "{rank}", std::to_string(rank_));
    replace_all(text, "{local}", std::to_string(local_));
    return text;
}

}  // namespace gambrel::app
