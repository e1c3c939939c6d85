#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <gambrel/ingest.hpp>

namespace gambrel {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of(const fs::path& path) {
    std::error_code error;
    if (const auto status = fs::status(path, error); !error && !fs::is_regular_file(status))
        return failure(path.string(), "is not a regular file; expected a result of ERT");
    std::ifstream in(path, std::ios::binary);
    if (!in) return failure(path.string(), "cannot be opened; expected a result of ERT");
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

bool is_try(const fs::path& path) { return path.filename().string().starts_with("try."); }

// Tries by the folder (leaf) that they lie in.
Result<std::map<std::string, std::vector<ErtLine>>> leaves_of(const fs::path& folder) {
    std::map<std::string, std::vector<ErtLine>> leaves;
    std::error_code error;
    std::vector<fs::path> tries;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (is_try(it->path())) tries.push_back(it->path());
    if (error) return failure(folder.string(), error.message());
    std::sort(tries.begin(), tries.end());
    for (const fs::path& path : tries) {
        const auto text = text_of(path);
        if (!text) return tl::unexpected(text.error());
        const auto lines = parse_ert_try(*text, path.string());
        if (!lines) return tl::unexpected(lines.error());
        auto& all = leaves[path.parent_path().string()];
        all.insert(all.end(), lines->begin(), lines->end());
    }
    if (leaves.empty()) return failure(folder.string(), "no try.NNN in this folder or below it");
    return leaves;
}

// ERT's roofline step: every precision's peak over all leaves, bandwidths of the one leaf with the largest weight.
Result<ErtImport> judged(const std::map<std::string, std::vector<ErtLine>>& leaves) {
    ErtImport out;
    double weight = -1;
    std::map<std::string, double> peaks;
    for (const auto& [leaf, lines] : leaves) {
        const auto summary = ert_summary(lines);
        if (!summary) return failure(leaf, to_text(summary.error()));
        for (const auto& [name, value] : summary->gflops) peaks[name] = std::max(peaks[name], value);
        if (summary->weight <= weight) continue;
        weight = summary->weight;
        out.roofline.gbytes = summary->gbytes;
        out.sweep = ert_sweep(lines);
        out.leaf = leaf;
    }
    out.roofline.gflops.assign(peaks.begin(), peaks.end());
    return out;
}

}  // namespace

Result<ErtImport> load_ert(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        const auto leaves = leaves_of(path);
        if (!leaves) return tl::unexpected(leaves.error());
        return judged(*leaves);
    }
    const auto text = text_of(path);
    if (!text) return tl::unexpected(text.error());
    if (fs::path(path).extension() == ".json") {
        const auto roofline = parse_ert_json(*text, path);
        if (!roofline) return tl::unexpected(roofline.error());
        return ErtImport{*roofline, {}, path};
    }
    const auto lines = parse_ert_try(*text, path);
    if (!lines) return tl::unexpected(lines.error());
    return judged({{path, *lines}});
}

}  // namespace gambrel
