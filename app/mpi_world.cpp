#include "app/mpi_world.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "app/output.hpp"

namespace gambrel::app {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

// What Open MPI, MPICH, Intel MPI and Slurm's PMIx put into the environment of a rank.
bool launched() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
        if (std::getenv(name)) return true;
    return false;
}

// Beside the program in a build tree, or where it is installed; never from a path that the environment names. Stays
// open: MPI does not survive being unloaded.
void* library(std::string* why) {
    std::error_code ignored;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    void* handle = nullptr;
    for (const auto& path :
         {folder / "libgambrel-mpi.so", folder.parent_path() / "lib" / "gambrel" / "libgambrel-mpi.so"}) {
        if (handle || !std::filesystem::exists(path, ignored)) continue;
        handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (!handle && why) *why = dlerror();
    }
    if (!handle && why && why->empty()) *why = "this gambrel was built without it";
    return handle;
}

}  // namespace

bool MpiWorld::available(std::string* why) { return library(why) != nullptr; }

MpiWorld::MpiWorld() {
    if (!launched()) return;
    std::string why;
    void* const handle = library(&why);
    const auto open =
        handle ? reinterpret_cast<decltype(&gambrel_open_ranks)>(dlsym(handle, "gambrel_open_ranks")) : nullptr;
    if (open)
        ranks_.reset(open());
    else
        say("note: MPI: every rank works alone: " + why);
}

std::vector<std::string> MpiWorld::gather(std::string_view mine) {
    return ranks_ ? ranks_->gather(mine) : World::gather(mine);
}
std::string MpiWorld::broadcast(std::string_view text) {
    return ranks_ ? ranks_->broadcast(text) : World::broadcast(text);
}
void MpiWorld::send(int to, std::string_view text) { ranks_ ? ranks_->send(to, text) : World::send(to, text); }
std::string MpiWorld::receive(int from) { return ranks_ ? ranks_->receive(from) : World::receive(from); }
std::optional<World::Message> MpiWorld::received() { return ranks_ ? ranks_->received() : World::received(); }

std::string MpiWorld::filled(std::string text) const {
    replace_all(text, "{rank}", std::to_string(rank()));
    replace_all(text, "{local}", std::to_string(ranks_ ? ranks_->local() : 0));
    return text;
}

}  // namespace gambrel::app
