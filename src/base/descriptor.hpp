// A file descriptor that closes itself, and the system's own words for what went wrong with it.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include <unistd.h>

namespace gambrel::base_detail {

struct Descriptor {
    int fd;
    explicit Descriptor(int opened) : fd(opened) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

inline std::string system_text() { return std::generic_category().message(errno); }

}  // namespace gambrel::base_detail
