#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file_bytes.hpp"
#include "base/file_title.hpp"
#include "trace/events.hpp"

namespace gambrel {
namespace {

using namespace trace_detail;
using base_detail::FileBytes;
namespace fs = std::filesystem;

struct Candidate {
    std::string path;
    bool named = true;  // given by the user, not found in a folder
};

std::vector<Candidate> candidates(std::span<const std::string> paths) {
    std::vector<Candidate> out;
    for (const auto& path : paths) {
        std::error_code ec;
        if (!fs::is_directory(path, ec)) {
            out.push_back({path, true});
            continue;
        }
        std::vector<std::string> inside;
        for (fs::recursive_directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
            if (it->is_regular_file(ec)) inside.push_back(it->path().string());
        std::sort(inside.begin(), inside.end());
        for (auto& file : inside) out.push_back({std::move(file), false});
    }
    return out;
}

Result<Events> events_of(const std::string& path, const FileBytes& bytes) {
    // A plain file is left to SQLite, which reads only the pages that it needs; an unpacked one is in memory.
    if (is_sqlite(bytes.view())) {
        auto plain = read_nsys(path);
        return plain ? std::move(plain) : read_nsys(bytes.view(), path);
    }
    return read_kineto(bytes.view(), path);
}

}  // namespace

bool is_trace(std::string_view bytes) { return is_sqlite(bytes) || is_kineto(bytes); }

Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths) {
    Timeline out;
    Errors failures;
    std::size_t others = 0;
    for (const auto& [path, named] : candidates(paths)) {
        // A pipe can be read only once: it is left to the readers of profiles.
        std::error_code none;
        if (named && out.ranks.empty() && !std::filesystem::is_regular_file(path, none))
            return std::optional<Timeline>{};
        const auto bytes = FileBytes::open(path);
        if (bytes && !is_trace(bytes->view())) {
            if (named && out.ranks.empty()) return std::optional<Timeline>{};
            if (named) failures.push_back({path, "is not a trace, and the files before it are"});
            ++others;
            continue;
        }
        auto events = bytes ? events_of(path, *bytes) : Result<Events>(tl::unexpected(bytes.error()));
        if (events)
            add_rank(std::move(*events), out);
        else
            failures.insert(failures.end(), events.error().begin(), events.error().end());
    }
    if (out.ranks.empty() && failures.empty()) return std::optional<Timeline>{};
    if (out.ranks.empty()) return tl::unexpected(std::move(failures));
    out.partial |= !failures.empty();
    out.notes.insert(out.notes.end(), failures.begin(), failures.end());
    if (others > 0) out.notes.push_back({"", fmt::format("{} files that are not traces are left out", others)});
    out.title = base_detail::title_of(paths);
    return std::optional<Timeline>(std::move(out));
}

Result<Timeline> read_timeline(std::span<const std::string> paths) {
    auto traces = traces_in(paths);
    if (!traces) return tl::unexpected(std::move(traces.error()));
    if (!*traces) return failure(paths.empty() ? "" : paths.front(), "is not a trace of PyTorch or Nsight Systems");
    return std::move(**traces);
}

Result<Timeline> read_timeline(std::string_view bytes, const std::string& source) {
    std::string padded(bytes);
    padded.reserve(bytes.size() + FileBytes::kPadding);
    auto events = is_sqlite(bytes) ? read_nsys(bytes, source) : read_kineto(padded, source);
    if (!events) return tl::unexpected(std::move(events.error()));
    Timeline out;
    add_rank(std::move(*events), out);
    out.title = source;
    return out;
}

}  // namespace gambrel
