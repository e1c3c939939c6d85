#include "base/output_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace gambrel::base_detail {
namespace {

Result<void> refused(const std::string& path) {
    return failure(path, fmt::format("cannot be written: {}", system_text()));
}

// "/dev/stdout", "/dev/fd/3": the descriptor itself. Opened by its name, a redirected regular file would be written
// from its beginning, or renamed away from the shell that waits for it.
std::optional<int> named_descriptor(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
        if (path.starts_with(folder)) {
            const std::string_view digits = path.substr(folder.size());
            int fd = -1;
            const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), fd);
            if (fault == std::errc{} && end == digits.data() + digits.size()) return fd;
        }
    return std::nullopt;
}

// The file that a chain of symbolic links ends at, whether it exists or not.
std::string followed(std::string path) {
    for (int links = 0; links < 40; ++links) {
        std::array<char, PATH_MAX> target{};
        const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
        if (size < 0) break;
        const std::string_view next(target.data(), static_cast<std::size_t>(size));
        const auto slash = path.rfind('/');
        path = next.starts_with('/') || slash == std::string::npos ? std::string(next)
                                                                   : path.substr(0, slash + 1) + std::string(next);
    }
    return path;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::write(fd, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
}

// Long enough for a machine file, whose mark stands beside the first measured number.
constexpr std::size_t kHead = std::size_t{64} << 10, kTail = 4096;

struct Ends {
    std::string head, tail;
    bool whole = false;
};

std::optional<Ends> ends_of(const std::string& path, std::size_t size) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.fd < 0) return std::nullopt;
    Ends ends;
    const auto read_at = [&](std::size_t at, std::size_t count) {
        std::string bytes(count, '\0');
        const ssize_t got = ::pread(file.fd, bytes.data(), count, static_cast<off_t>(at));
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    };
    ends.head = read_at(0, std::min(size, kHead));
    ends.tail = read_at(size - std::min(size, kTail), std::min(size, kTail));
    ends.whole = size <= kHead;
    return ends;
}

bool written_by_gambrel(const Ends& ends, std::string_view bytes) {
    const auto has = [&](std::string_view mark) {
        return ends.head.find(mark) != std::string::npos || ends.tail.find(mark) != std::string::npos;
    };
    if (ends.whole && ends.head == bytes) return true;
    // SVG, HTML and Markdown; PNG; PDF; JUnit; checkpoints; measured machines, ERT files.
    using namespace std::string_view_literals;
    for (const std::string_view mark :
         {kCommentMark, "tEXtSoftware\0gambrel"sv, "/Creator (gambrel)"sv, "<testsuite name=\"gambrel check"sv,
          "gambrel-explore-checkpoint-"sv, "\"gambrel measure on "sv, "\"GAMBREL_VERSION\""sv})
        if (has(mark)) return true;
    // Our JSON names its schema; a cost table has one too, but is written by its user.
    for (const std::string_view schema : {"\"schema\": \"gambrel-", "\"schema\":\"gambrel-"})
        if (has(schema) && !has(std::string(schema) + "costs-")) return true;
    // A table of the same kind has the same heading. Other formats share first lines ("{", "<?xml ...?>") with
    // everyone.
    const std::string_view heading = bytes.substr(0, bytes.find('\n'));
    return heading.size() > 20 && std::count(heading.begin(), heading.end(), ',') > 2 &&
           ends.head.starts_with(heading) && ends.head.substr(heading.size()).starts_with('\n');
}

}  // namespace

void OutputGuard::protect(const std::string& input) {
    struct stat status {};
    // Every gambrel may write to the same terminal or null device that it reads; only regular files can be lost.
    if (::stat(input.c_str(), &status) == 0 && S_ISREG(status.st_mode))
        inputs_.push_back({status.st_dev, status.st_ino, input});
}

Result<void> OutputGuard::check_target(const std::string& path) const {
    if (named_descriptor(path)) return {};
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        if (errno != ENOENT) return refused(path);
        if (::access(folder_of(followed(path)).c_str(), W_OK) != 0) return refused(path);
        return {};
    }
    if (S_ISDIR(status.st_mode)) return failure(path, "is a folder; give the name of a file");
    for (const Input& input : inputs_)
        if (input.device == status.st_dev && input.inode == status.st_ino)
            return failure(path, input.path == path
                                     ? "is an input of this command and is not replaced; give another name"
                                     : fmt::format("is the same file as the input {} and is not replaced; give another "
                                                   "name",
                                                   input.path));
    if (S_ISREG(status.st_mode) && ::access(path.c_str(), W_OK) != 0) return refused(path);
    return {};
}

Result<void> OutputGuard::check(const std::string& path, std::string_view bytes) const {
    if (auto target = check_target(path); !target) return target;
    struct stat status {};
    if (forced_ || named_descriptor(path) || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size == 0)
        return {};
    const auto ends = ends_of(path, static_cast<std::size_t>(status.st_size));
    if (ends && written_by_gambrel(*ends, bytes)) return {};
    return failure(path,
                   fmt::format("exists and was not written by gambrel, so it is not replaced; give another name{}",
                               forced_by_.empty() ? "" : ", or " + forced_by_));
}

// A named descriptor, or something at the path that is not a regular file, is written directly.
Result<OutputFile> OutputFile::open(const std::string& path, std::string_view beginning, const OutputGuard& guard) {
    if (auto allowed = guard.check(path, beginning); !allowed) return tl::unexpected(allowed.error());
    OutputFile file(path);
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (const auto fd = named_descriptor(path)) {
        file.fd_ = ::dup(*fd);
    } else if (exists && !S_ISREG(status.st_mode)) {
        file.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        static std::atomic<unsigned> count = 0;
        file.target_ = followed(path);
        file.beside_ = fmt::format("{}/.gambrel-{}-{}.tmp", folder_of(file.target_), ::getpid(), count++);
        file.fd_ = ::open(file.beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file.fd_ < 0) file.beside_.clear();
        if (exists) file.replaced_ = Owner{status.st_uid, status.st_gid, status.st_mode & 07777};
    }
    if (file.fd_ < 0) return tl::unexpected(refused(path).error());
    return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      beside_(std::exchange(other.beside_, {})),
      fd_(std::exchange(other.fd_, -1)),
      replaced_(other.replaced_) {}

OutputFile::~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!beside_.empty()) ::unlink(beside_.c_str());
}

Result<void> OutputFile::write(std::string_view bytes) {
    if (!write_all(fd_, bytes)) return refused(path_);
    return {};
}

Result<void> OutputFile::finish() {
    if (beside_.empty()) return {};
    if (replaced_) {
        // Only root may give a file away; for anyone else the new file belongs to its writer, as after cp and mv.
        if (::fchown(fd_, replaced_->user, replaced_->group) != 0) errno = 0;
        if (::fchmod(fd_, replaced_->mode) != 0) return refused(path_);
    }
    if (::rename(beside_.c_str(), target_.c_str()) != 0) return refused(path_);
    beside_.clear();
    return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes, const OutputGuard& guard) {
    auto file = OutputFile::open(path, bytes, guard);
    if (!file) return tl::unexpected(file.error());
    if (auto written = file->write(bytes); !written) return written;
    return file->finish();
}

}  // namespace gambrel::base_detail
