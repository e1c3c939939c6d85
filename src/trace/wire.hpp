// What one process read of one file, as bytes for another process of the same program.
#pragma once

#include <string>
#include <string_view>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

struct FileResult {
    enum class Kind : std::uint8_t { trace, other, failed };
    std::uint64_t number = 0;  // among the files of the run
    Kind kind = Kind::other;
    Timeline timeline;  // of this file alone; a rank whose name is empty is named by its place
    Errors errors;
};

void add_to_wire(const FileResult& result, std::string& out);
// All results of one sender; nothing where the bytes are not a sender's.
std::optional<std::vector<FileResult>> from_wire(std::string_view bytes);

// Joins a file's timeline to that of the run as one more rank.
void append(Timeline one, Timeline& out);

}  // namespace gambrel::trace_detail
