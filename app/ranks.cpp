#include "app/ranks.hpp"

#include <cstdlib>

#ifdef GAMBREL_HAVE_MPI
// Not its C++ bindings, which MPI has withdrawn.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace gambrel::app {
namespace {

#ifdef GAMBREL_HAVE_MPI
// What Open MPI, MPICH, Intel MPI and Slurm's PMIx put into the environment of a rank.
bool launched() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
        if (std::getenv(name)) return true;
    return false;
}
#endif

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

}  // namespace

#ifdef GAMBREL_HAVE_MPI
bool Ranks::built_with_mpi() { return true; }

Ranks::Ranks() {
    if (!launched()) return;
    MPI_Init(nullptr, nullptr);
    started_ = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_);
    MPI_Comm_free(&node);
}

Ranks::~Ranks() {
    if (started_) MPI_Finalize();
}

std::vector<std::string> Ranks::gather(const std::string& mine) const {
    if (!started_) return {mine};
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
#else
bool Ranks::built_with_mpi() { return false; }
Ranks::Ranks() = default;
Ranks::~Ranks() = default;
std::vector<std::string> Ranks::gather(const std::string& mine) const { return {mine}; }
#endif

std::string Ranks::filled(std::string text) const {
    replace_all(text, "{rank}", std::to_string(rank_));
    replace_all(text, "{local}", std::to_string(local_));
    return text;
}

}  // namespace gambrel::app
