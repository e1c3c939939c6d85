#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file_bytes.hpp"
#include "base/file_title.hpp"
#include "base/pipe_head.hpp"
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

// Whether what comes through a pipe is a trace, by its first bytes, which stay in it.
bool pipes_a_trace(const std::string& path) {
    std::string head = base_detail::pipe_head(path), cut;
    if (base_detail::is_gzip(head)) head = base_detail::gunzip(head, path, head.size() * 2000, &cut).value_or("");
    return is_trace(head) || is_trace_head(head);
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
    if (kind == ".zst" || kind == ".xz" || kind == ".bz2" || kind == ".zip" || kind == ".7z")
        return Error{path, "is compressed in a way that is not read here: unpack it, or pack it as .gz"};
    return std::nullopt;
}

Result<Events> events_of(const std::string& path, const FileBytes& bytes) {
    // A plain file is left to SQLite, which reads only the pages that it needs; an unpacked one is in memory.
    if (!is_sqlite(bytes.view())) return read_kineto(bytes.view(), path);
    if (!base_detail::is_pipe(path))
        if (auto plain = read_nsys(path)) return plain;
    return read_nsys(bytes.view(), path);
}

void add_file(const std::string& path, const FileBytes& bytes, Timeline& out, Errors& failures) {
    auto events = events_of(path, bytes);
    if (events && !bytes.damage().empty()) {
        events->partial = true;
        events->notes.push_back({path, bytes.damage() + "; what lies before that is read"});
    }
    if (events)
        add_rank(std::move(*events), out);
    else
        failures.insert(failures.end(), events.error().begin(), events.error().end());
    if (!events && !bytes.damage().empty()) failures.push_back({path, bytes.damage()});
}

}  // namespace

bool trace_detail::is_sqlite(std::string_view bytes) {
    return bytes.starts_with(std::string_view("SQLite format 3\0", 16));
}

bool is_trace(std::string_view bytes) { return is_sqlite(bytes) || is_kineto(bytes); }

Result<std::optional<Timeline>> traces_in(std::span<const std::string> paths) {
    Timeline out;
    Errors failures;
    std::size_t others = 0;
    for (const auto& [path, named] : candidates(paths)) {
        const bool first = named && out.ranks.empty() && failures.empty();
        std::error_code none;
        // What can be read only once is left to the readers of profiles unless it is seen to be a trace.
        if (first && !fs::is_regular_file(path, none) && !(base_detail::is_pipe(path) && pipes_a_trace(path)))
            return std::optional<Timeline>{};
        if (auto other = named ? other_format(path) : std::nullopt; other && fs::exists(path, none)) {
            failures.push_back(std::move(*other));
            continue;
        }
        const auto bytes = FileBytes::open(path, FileBytes::Damaged::keep);
        if (bytes && !is_trace(bytes->view())) {
            if (first) return std::optional<Timeline>{};
            if (named) failures.push_back({path, "is not a trace, and the files before it are"});
            ++others;
        } else if (bytes) {
            add_file(path, *bytes, out, failures);
        } else {
            failures.insert(failures.end(), bytes.error().begin(), bytes.error().end());
        }
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
