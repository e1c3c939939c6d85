#include "measure/dynamic/library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

namespace gambrel::measure_detail {

DynamicLibrary::~DynamicLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

Result<DynamicLibrary> DynamicLibrary::open(const char* variable, std::span<const std::string> candidates) {
    const char* chosen = std::getenv(variable);
    const std::vector<std::string> paths = chosen != nullptr && *chosen != '\0'
                                               ? std::vector<std::string>{chosen}
                                               : std::vector<std::string>(candidates.begin(), candidates.end());
    std::string why;
    for (const std::string& path : paths) {
        DynamicLibrary library;
        library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        library.path_ = path;
        if (library.handle_ != nullptr) return library;
        // The first is the usual name, and its failure the one worth reading.
        if (const char* text = dlerror(); why.empty() && text != nullptr) why = text;
    }
    return failure(paths.front(), fmt::format("cannot be opened ({}); {} may name the file", why, variable));
}

void* DynamicLibrary::symbol(const char* name) const { return dlsym(handle_, name); }

std::vector<std::string> cuda_library_names(const std::string& stem, std::initializer_list<const char*> versions,
                                            int driver) {
    std::vector<std::string> names, newer;
    for (const char* version : versions)
        (driver > 0 && std::atoi(version) > driver / 1000 ? newer : names).push_back(stem + "." + version);
    // Without a version it is whatever a toolkit installed last.
    names.push_back(stem);
    names.push_back("/usr/local/cuda/lib64/" + stem);
    names.insert(names.end(), newer.begin(), newer.end());
    return names;
}

Result<void> check_missing(const DynamicLibrary& library, const std::vector<std::string>& missing) {
    if (missing.empty()) return {};
    return failure(library.path(), fmt::format("lacks {}; expected a newer version", fmt::join(missing, ", ")));
}

}  // namespace gambrel::measure_detail
