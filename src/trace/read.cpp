#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/file_bytes.hpp"
#include "base/file_title.hpp"
#include "base/pipe_head.hpp"
#include "trace/events.hpp"
#include "trace/sqlite.hpp"
#include "trace/wire.hpp"

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

// Whether what comes through a pipe is a trace, by its first bytes, which stay in it.
bool pipes_a_trace(const std::string& path) {
    std::string head = base_detail::pipe_head(path), cut;
    if (base_detail::is_gzip(head)) head = base_detail::gunzip(head, path, head.size() * 2000, &cut).value_or("");
    return is_trace(head) || is_trace_head(head);
}

// What can be read only once is left to the readers of profiles unless it is seen to be a trace; several processes
// share files only, so that all of them decide alike.
bool readable_by(int processes, const Candidate& first) {
    std::error_code none;
    if (!first.named) return true;
    if (processes > 1) return fs::is_regular_file(first.path, none) && !first.path.starts_with("/dev/");
    return fs::is_regular_file(first.path, none) || (base_detail::is_pipe(first.path) && pipes_a_trace(first.path));
}

// Files of other tools that hold traces, by their names: how to make one that can be read.
std::optional<Error> other_format(const std::string& path) {
    const std::string kind = fs::path(path).extension().string();
    if (kind == ".nsys-rep" || kind == ".qdrep")
        return Error{path, fmt::format("is a report of Nsight Systems, which only nsys can read: "
                                       "`nsys export --type sqlite {}`, then analyze the .sqlite file",
                                       fs::path(path).filename().string())};
    if (kind == ".qdstrm")
        return Error{path,
                     "is an unfinished recording of Nsight Systems: import it with QdstrmImporter, then "
                     "`nsys export --type sqlite`"};
    if (kind == ".tar" || kind == ".tgz" || path.ends_with(".tar.gz"))
        return Error{path, "is an archive: unpack it and analyze the folder, whose files are then ranks of one run"};
    if (kind == ".zst" || kind == ".xz" || kind == ".bz2" || kind == ".zip" || kind == ".7z")
        return Error{path, "is compressed in a way that is not read here: unpack it, or pack it as .gz"};
    return std::nullopt;
}

Result<Events> events_of(const std::string& path, const FileBytes& bytes) {
    // A plain file is left to SQLite, which reads only the pages that it needs; an unpacked one is in memory.
    if (!is_sqlite(bytes.view())) return read_kineto(bytes.view(), path);
    // SQLite takes a last page that is cut short for a whole one.
    if (!base_detail::is_pipe(path) && with_missing_pages(bytes.view()).empty())
        if (auto plain = read_nsys(path)) return plain;
    return read_nsys(bytes.view(), path);
}

FileResult read_file(const std::string& path, bool named) {
    FileResult out;
    std::error_code none;
    out.kind = FileResult::Kind::failed;
    if (auto other = named ? other_format(path) : std::nullopt; other && fs::exists(path, none)) {
        out.errors.push_back(std::move(*other));
        return out;
    }
    const auto bytes = FileBytes::open(path, FileBytes::Damaged::keep);
    if (!bytes) return out.errors = bytes.error(), out;
    if (!is_trace(bytes->view())) return out.kind = FileResult::Kind::other, out;
    auto events = events_of(path, *bytes);
    if (events) {
        if (!bytes->damage().empty()) {
            events->partial = true;
            events->notes.push_back({path, bytes->damage() + "; what lies before that is read"});
        }
        out.kind = FileResult::Kind::trace;
        out.timeline = linked(std::move(*events));
    } else {
        out.errors = events.error();
        if (!bytes->damage().empty()) out.errors.push_back({path, bytes->damage()});
    }
    return out;
}

// What every file gave, in the order of the files, to one timeline.
Result<std::optional<Timeline>> joined(std::vector<FileResult> results, const std::vector<Candidate>& files,
                                       std::span<const std::string> paths) {
    Timeline out;
    Errors failures;
    std::size_t others = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        FileResult& result = results[i];
        const bool first = files[i].named && out.ranks.empty() && failures.empty();
        if (result.kind == FileResult::Kind::trace) append(std::move(result.timeline), out);
        failures.insert(failures.end(), result.errors.begin(), result.errors.end());
        if (result.kind != FileResult::Kind::other) continue;
        if (first) return std::optional<Timeline>{};
        if (files[i].named) failures.push_back({files[i].path, "is not a trace, and the files before it are"});
        ++others;
    }
    if (out.ranks.empty() && failures.empty()) return std::optional<Timeline>{};
    if (out.ranks.empty()) return tl::unexpected(std::move(failures));
    out.partial |= !failures.empty();
    out.notes.insert(out.notes.end(), failures.begin(), failures.end());
    if (others > 0) out.notes.push_back({"", fmt::format("{} files that are not traces are left out", others)});
    out.title = base_detail::title_of(paths);
    return std::optional<Timeline>(std::move(out));
}

}  // namespace

bool trace_detail::is_sqlite(std::string_view bytes) {
    return bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool is_trace(std::string_view bytes) { return is_sqlite(bytes) || is_kineto(bytes); }

Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths) { return traces_in(paths, TraceShare{}); }

Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths, const TraceShare& share) {
    const std::vector<Candidate> files = candidates(paths);
    if (files.empty() || !readable_by(share.size, files.front())) return std::optional<Timeline>{};
    std::vector<FileResult> results(files.size());
    std::string wire;
    const auto size = static_cast<std::size_t>(std::max(1, share.size));
    for (std::size_t i = static_cast<std::size_t>(share.rank); i < files.size(); i += size) {
        results[i] = read_file(files[i].path, files[i].named);
        results[i].number = i;
        // A profile: the files are for other readers. Others of a run of several processes cannot know.
        if (size == 1 && i == 0 && files[i].named && results[i].kind == FileResult::Kind::other)
            return std::optional<Timeline>{};
        if (share.rank > 0) add_to_wire(std::exchange(results[i], {}), wire);
    }
    if (share.rank > 0) {
        share.send(wire);
        return std::optional<Timeline>{};
    }
    for (int other = 1; other < share.size; ++other) {
        auto received = from_wire(share.receive(other));
        if (!received) return failure("mpirun", fmt::format("rank {} sent what cannot be read", other));
        for (FileResult& result : *received)
            if (result.number < results.size()) results[result.number] = std::move(result);
    }
    return joined(std::move(results), files, paths);
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
    append(linked(std::move(*events)), out);
    out.title = source;
    return out;
}

}  // namespace gambrel
