#include "explore/locked_file.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace gambrel::explore_detail {
namespace {

// The file that was locked may have been removed by its last owner meanwhile: then the lock holds for nobody.
bool still_at(const std::string& path, int descriptor) {
    struct stat here {
    }, there{};
    return fstat(descriptor, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

}  // namespace

LockedFile::~LockedFile() {
    if (descriptor_ < 0) return;
    if (removed_) unlink(path_.c_str());
    close(descriptor_);
}

Result<void> LockedFile::open(const std::string& path, const std::string& for_whom) {
    path_ = path;
    for (;;) {
        descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (descriptor_ < 0) return failure(path, fmt::format("cannot be written: {}", std::strerror(errno)));
        if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            const int fault = errno;
            close(std::exchange(descriptor_, -1));
            if (fault == EWOULDBLOCK)
                return failure(for_whom,
                               "is in use by another gambrel explore; wait for it to end, or give another file");
            return failure(path, fmt::format("cannot be locked against a second process: {}", std::strerror(fault)));
        }
        if (still_at(path, descriptor_)) return {};
        close(std::exchange(descriptor_, -1));
    }
}

std::uint64_t LockedFile::size() const {
    struct stat status {};
    return fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string LockedFile::read(std::uint64_t at, std::size_t bytes) const {
    std::string text(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
        const auto n = pread(descriptor_, text.data() + done, bytes - done, static_cast<off_t>(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    text.resize(done);
    return text;
}

bool LockedFile::cut(std::uint64_t size) {
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && !S_ISREG(status.st_mode)) return size == 0;  // a pipe, /dev/null
    return ftruncate(descriptor_, static_cast<off_t>(size)) == 0 &&
           lseek(descriptor_, static_cast<off_t>(size), SEEK_SET) >= 0;
}

bool LockedFile::write(std::string_view text) {
    while (!text.empty()) {
        const auto n = ::write(descriptor_, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace gambrel::explore_detail
