// A file descriptor that closes itself, and the system's own words for what went wrong with it.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>
#include <tl/expected.hpp>

namespace gambrel::base_detail {

struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd(opened) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd, other.fd);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

inline std::string system_text() { return std::generic_category().message(errno); }

// A file to read, or the FIFO that pipe_head has kept open; -1, with errno, if it cannot be opened.
Descriptor opened(const std::string& path);

// A file that is there to be read; not a folder.
struct InputFile {
    Descriptor descriptor;
    bool regular = false;  // not a pipe or a device
    std::size_t size = 0;
};
tl::expected<InputFile, std::string> open_input(const std::string& path);

}  // namespace gambrel::base_detail
