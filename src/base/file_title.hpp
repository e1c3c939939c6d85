// How the files of a run are named in headings.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace gambrel::base_detail {

// "a.ncu-rep", "a.ncu-rep and 2 more"; of a folder its own name. "" without files.
inline std::string title_of(std::span<const std::string> paths) {
    if (paths.empty()) return {};
    const std::filesystem::path first(paths.front());
    const std::string name = first.has_filename() ? first.filename().string() : first.parent_path().filename().string();
    return paths.size() == 1 ? name : name + " and " + std::to_string(paths.size() - 1) + " more";
}

}  // namespace gambrel::base_detail
