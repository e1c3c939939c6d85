#include "base/file_bytes.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "base/inflater.hpp"

namespace gambrel::base_detail {

// A slot is taken by the first to put its address there, and read by a signal handler.
struct FileBytes::Mapping {
    std::atomic<const char*> begin = nullptr;
    std::atomic<bool> taken = false;
    std::size_t size = 0;
    std::array<char, 256> path{};
};

namespace {

using Mapping = FileBytes::Mapping;
std::array<Mapping, 32> g_mappings;  // beyond these the handler knows no name

Mapping* remember(const void* begin, std::size_t size, const std::string& path) {
    for (Mapping& m : g_mappings)
        if (!m.taken.exchange(true)) {
            m.size = size;
            m.path = {};
            path.copy(m.path.data(), m.path.size() - 1);
            m.begin = static_cast<const char*>(begin);
            return &m;
        }
    return nullptr;
}

// A pipe, as of `gambrel analyze <(ssh node cat run.ncu-rep)`, cannot be mapped and does not know its size.
Result<std::string> read_to_end(int fd, const std::string& path) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    std::string bytes;
    while (true) {
        const std::size_t have = bytes.size();
        bytes.resize(have + kStep);
        const ssize_t got = ::read(fd, bytes.data() + have, kStep);
        if (got < 0 && errno == EINTR) {
            bytes.resize(have);
            continue;
        }
        if (got < 0) return failure(path, fmt::format("cannot be read: {}", system_text()));
        bytes.resize(have + static_cast<std::size_t>(got));
        if (got == 0) return bytes;
        if (bytes.size() > kLongestInMemory)
            return failure(path, fmt::format("more than {} bytes from a pipe or device, the limit; save it to a file",
                                             kLongestInMemory));
    }
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> gunzip(std::string_view bytes, const std::string& source, std::size_t limit, std::string* damage) {
    Inflater inflater;
    if (!inflater.ready) return failure(source, "gzip: no memory to unpack");
    z_stream& z = inflater.stream;
    std::string text;
    std::size_t taken = 0, made = 0;
    const auto broken = [&](std::string what) -> Result<std::string> {
        if (damage == nullptr || made == 0) return failure(source, std::move(what));
        *damage = std::move(what);
        text.resize(made);
        return std::move(text);
    };
    while (true) {
        // One byte more than the limit, so that a stream of exactly the limit still gets to its checksum.
        if (made == text.size())
            text.resize(std::min(limit + 1, std::max(std::size_t{1} << 16, made + std::min(made, kFreeUnpacked))));
        constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
        const auto in = static_cast<uInt>(std::min(kMost, bytes.size() - taken));
        const auto out = static_cast<uInt>(std::min(kMost, text.size() - made));
        // zlib's input pointer is not const for historical reasons; it does not write to it.
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
        z.avail_in = in;
        z.next_out = reinterpret_cast<Bytef*>(text.data() + made);
        z.avail_out = out;
        const int status = inflate(&z, Z_NO_FLUSH);
        taken += in - z.avail_in;
        made += out - z.avail_out;
        if (made > limit)
            return failure(source,
                           fmt::format("gzip: unpacks to more than {} bytes, the limit; unpack it to a file", limit));
        if (made > kFreeUnpacked && made / kMostRatio > taken)
            return failure(source,
                           fmt::format("gzip: unpacks to more than {} times its size, the limit; if it is meant "
                                       "to, unpack it to a file",
                                       kMostRatio));
        if (status == Z_STREAM_END) {
            const std::string_view rest = bytes.substr(taken);
            if (rest.find_first_not_of('\0') == std::string_view::npos) break;  // tapes and pipes pad with zeros
            if (!is_gzip(rest))
                return broken(fmt::format("gzip: byte {}: {} bytes after the end of the stream that are not gzip",
                                          taken, rest.size()));
            inflateReset(&z);  // `cat a.gz b.gz` and bgzip make files of several members
        } else if (status == Z_BUF_ERROR && taken == bytes.size() && z.avail_out > 0) {
            return broken(fmt::format("gzip: ends at byte {} inside a stream: the file is truncated", taken));
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return broken(fmt::format("gzip: damaged at byte {}: {}", taken, z.msg != nullptr ? z.msg : "bad stream"));
        }
    }
    text.resize(made);
    return text;
}

tl::expected<InputFile, std::string> open_input(const std::string& path) {
    Descriptor file = opened(path);
    if (file.fd < 0) return tl::unexpected(fmt::format("cannot be opened: {}", system_text()));
    struct stat status {};
    if (::fstat(file.fd, &status) != 0) return tl::unexpected(fmt::format("cannot be read: {}", system_text()));
    if (S_ISDIR(status.st_mode)) return tl::unexpected(std::string("is a folder, expected a file"));
    return InputFile{std::move(file), S_ISREG(status.st_mode), static_cast<std::size_t>(status.st_size)};
}

Result<FileBytes> FileBytes::open(const std::string& path, Damaged damaged) {
    auto input = open_input(path);
    if (!input) return failure(path, std::move(input.error()));
    const Descriptor& file = input->descriptor;

    FileBytes bytes;
    if (input->regular && input->size > 0) {
        const std::size_t size = input->size;
        // No madvise: on a report of 333 MB neither SEQUENTIAL nor WILLNEED was faster in cache, and SEQUENTIAL was 1.5
        // times slower from disk, because readers go over a file twice.
        // Behind the file's last page lie zeros that are mapped here, so that vector instructions may read past its
        // end.
        const std::size_t reserved = size + kPadding;
        void* mapped = ::mmap(nullptr, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) return failure(path, fmt::format("cannot be mapped: {}", system_text()));
        bytes.mapped_ = mapped;
        bytes.mapped_size_ = reserved;
        if (::mmap(mapped, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.fd, 0) == MAP_FAILED)
            return failure(path, fmt::format("cannot be mapped: {}", system_text()));
        bytes.slot_ = remember(mapped, size, path);
        bytes.view_ = {static_cast<const char*>(mapped), size};
    } else {
        auto read = read_to_end(file.fd, path);
        if (!read) return tl::unexpected(std::move(read.error()));
        read->reserve(read->size() + kPadding);
        bytes.owned_ = std::make_unique<std::string>(std::move(*read));
        bytes.view_ = *bytes.owned_;
    }
    if (!is_gzip(bytes.view_)) return bytes;

    FileBytes plain;
    auto unpacked = gunzip(bytes.view_, path, kLongestInMemory, damaged == Damaged::keep ? &plain.damage_ : nullptr);
    if (!unpacked) return tl::unexpected(std::move(unpacked.error()));
    unpacked->reserve(unpacked->size() + kPadding);
    plain.owned_ = std::make_unique<std::string>(std::move(*unpacked));
    plain.view_ = *plain.owned_;
    return plain;
}

// owned_ is a pointer, so that moving a FileBytes leaves the views into it valid even for short strings.
FileBytes::FileBytes(FileBytes&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_size_(std::exchange(other.mapped_size_, 0)),
      forgotten_(std::exchange(other.forgotten_, 0)),
      slot_(std::exchange(other.slot_, nullptr)),
      owned_(std::move(other.owned_)),
      view_(std::exchange(other.view_, {})),
      damage_(std::move(other.damage_)) {}

FileBytes& FileBytes::operator=(FileBytes&& other) noexcept {
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_size_, other.mapped_size_);
    std::swap(forgotten_, other.forgotten_);
    std::swap(slot_, other.slot_);
    std::swap(owned_, other.owned_);
    std::swap(view_, other.view_);
    std::swap(damage_, other.damage_);
    return *this;
}

FileBytes::~FileBytes() {
    if (slot_ != nullptr) slot_->begin = nullptr, slot_->taken = false;
    if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
}

void FileBytes::forget_before(std::size_t position) {
    constexpr std::size_t kStep = std::size_t{4} << 20;  // a whole number of pages, whatever their size
    const std::size_t end = std::min(position, view_.size()) / kStep * kStep;
    if (mapped_ == nullptr || end <= forgotten_) return;
    // Only advice: nothing is lost if it is not taken.
    (void)::madvise(static_cast<char*>(mapped_) + forgotten_, end - forgotten_, MADV_DONTNEED);
    forgotten_ = end;
}

const char* mapped_file_at(const void* address) noexcept {
    for (const Mapping& m : g_mappings) {
        const char* begin = m.begin;
        const char* at = static_cast<const char*>(address);
        if (begin != nullptr && std::less_equal<>{}(begin, at) && std::less<>{}(at, begin + m.size))
            return m.path.data();
    }
    return nullptr;
}

}  // namespace gambrel::base_detail
