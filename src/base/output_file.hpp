// The one writer of files. A regular file is written beside its target and renamed over it, so a target is the old file
// or the new one and never a cut one. Anything else (a FIFO, a terminal, /dev/stdout, /dev/fd/N) is written directly.
// OutputGuard keeps what must not be lost: the inputs of the command, and files that gambrel did not write.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include <gambrel/base.hpp>

namespace gambrel::base_detail {

// In the last line of every text format that has comments: what tells our files from those of others.
inline constexpr std::string_view kCommentMark = "<!-- gambrel -->";

class OutputGuard {
public:
    // Files are compared by device and inode, so links and other spellings of the path are seen through.
    void protect(const std::string& input);
    // --force: foreign files may be replaced; inputs still may not.
    void force() { forced_ = true; }

    // Before the work is done: is the target an input, a folder, write-protected, or in a folder that does not exist?
    [[nodiscard]] Result<void> check_target(const std::string& path) const;
    // The same, and an existing file must be one of gambrel's. `bytes` is what will be written, or its beginning: a
    // table is recognised by its first line.
    [[nodiscard]] Result<void> check(const std::string& path, std::string_view bytes) const;

private:
    struct Input {
        dev_t device;
        ino_t inode;
        std::string path;
    };
    std::vector<Input> inputs_;
    bool forced_ = false;
};

// On failure the reason is the system's own, and the target is as it was.
Result<void> write_file(const std::string& path, std::string_view bytes, const OutputGuard& guard);

}  // namespace gambrel::base_detail
