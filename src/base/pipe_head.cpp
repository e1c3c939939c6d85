#include "base/pipe_head.hpp"

#include <array>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace gambrel::base_detail {
namespace {

constexpr std::size_t kRecognized = std::size_t{1} << 16;
// A writer may begin with a few bytes: this much of a head is waited for, for at most half a second.
constexpr std::size_t kEnough = 2048;
constexpr int kTries = 50;

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
    return ::statfs(path.c_str(), &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

std::string pipe_head(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd < 0) return {};
    std::string head = copied_head(file.fd);
    for (int i = 0; i < kTries && !head.empty() && head.size() < kEnough; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        head = copied_head(file.fd);
    }
    return head;
}

}  // namespace gambrel::base_detail
