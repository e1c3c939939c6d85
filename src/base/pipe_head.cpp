#include "base/pipe_head.hpp"

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace gambrel::base_detail {
namespace {

constexpr std::size_t kRecognized = std::size_t{1} << 16;
// A writer may begin with a few bytes: this much of a head is waited for, for at most half a second.
constexpr std::size_t kEnough = 2048;
constexpr int kTries = 50;

std::mutex g_guard;
std::map<std::string, Descriptor> g_kept;  // FIFOs whose heads were looked at

// Not a pipe of the shell, which can be opened again.
bool is_named_fifo(const std::string& path) {
    struct stat status {};
    struct statfs system {};
    return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) && ::statfs(path.c_str(), &system) == 0 &&
           system.f_type != PIPEFS_MAGIC;
}

std::string copied_head(int from) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
    const Descriptor out(ends[0]), in(ends[1]);
    const ssize_t copied = ::tee(from, in.fd, kRecognized, 0);
    if (copied <= 0) return {};
    std::string head(static_cast<std::size_t>(copied), '\0');
    std::size_t have = 0;
    while (have < head.size()) {
        const ssize_t got = ::read(out.fd, head.data() + have, head.size() - have);
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    head.resize(have);
    return head;
}

}  // namespace

bool is_pipe(const std::string& path) {
    struct statfs system {};
    return is_named_fifo(path) || (::statfs(path.c_str(), &system) == 0 && system.f_type == PIPEFS_MAGIC);
}

std::string pipe_head(const std::string& path) {
    Descriptor file = opened(path);
    if (file.fd < 0) return {};
    std::string head = copied_head(file.fd);
    for (int i = 0; i < kTries && !head.empty() && head.size() < kEnough; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        head = copied_head(file.fd);
    }
    if (is_named_fifo(path)) {
        const std::scoped_lock lock(g_guard);
        g_kept.insert_or_assign(path, std::move(file));
    }
    return head;
}

Descriptor opened(const std::string& path) {
    {
        const std::scoped_lock lock(g_guard);
        if (auto kept = g_kept.extract(path)) return std::move(kept.mapped());
    }
    return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace gambrel::base_detail
