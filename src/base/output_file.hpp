// The one writer of files. A regular file is written beside its target and renamed over it, so a target is the old file
// or the new one and never a cut one. Anything else (a FIFO, a terminal, /dev/stdout, /dev/fd/N) is written directly.
// OutputGuard keeps what must not be lost: the inputs of the command, and files that gambrel did not write.
#pragma once

#include <optional>
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
    // What a caller writes to force it, for messages: "--force" unless stated; empty where nothing does.
    void forced_by(std::string what) { forced_by_ = std::move(what); }

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
    std::string forced_by_ = "--force";
};

// A file that is written piece by piece. A regular one takes its place when it is finished; one that is not leaves the
// target as it was. On failure the reason is the system's own.
class OutputFile {
public:
    // `beginning` as for OutputGuard::check.
    static Result<OutputFile> open(const std::string& path, std::string_view beginning, const OutputGuard& guard);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();
    Result<void> write(std::string_view bytes);
    Result<void> finish();
    // Whether what is written can be seen before it is finished.
    [[nodiscard]] bool direct() const { return beside_.empty(); }

private:
    struct Owner {
        uid_t user;
        gid_t group;
        mode_t mode;
    };
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    std::string path_, target_, beside_;  // beside_ is empty where nothing must take a place
    int fd_ = -1;
    std::optional<Owner> replaced_;
};

// All at once.
Result<void> write_file(const std::string& path, std::string_view bytes, const OutputGuard& guard);

}  // namespace gambrel::base_detail
