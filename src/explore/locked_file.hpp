// A file that one process at a time may have open: a second one gets an error that names the first. The lock is the
// kernel's, so it ends with its process, even one that was killed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <gambrel/base.hpp>

namespace gambrel::explore_detail {

class LockedFile {
public:
    LockedFile() = default;
    ~LockedFile();
    LockedFile(const LockedFile&) = delete;
    LockedFile& operator=(const LockedFile&) = delete;

    // Created if it does not exist. `for_whom` is the file that errors name.
    Result<void> open(const std::string& path, const std::string& for_whom);
    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
    [[nodiscard]] std::uint64_t size() const;
    [[nodiscard]] std::string read(std::uint64_t at, std::size_t bytes) const;  // fewer at the end of the file
    bool cut(std::uint64_t size);                                               // and go on writing there
    bool write(std::string_view text);                                          // all of it
    void remove_on_close() { removed_ = true; }

private:
    int descriptor_ = -1;
    std::string path_;
    bool removed_ = false;
};

}  // namespace gambrel::explore_detail
