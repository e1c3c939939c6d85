// The real NVRTC (NVRTC_LIBRARY names it), except that a caller who asks for machine code gets the PTX that it is made
// from, which is what the model runs. PTX_DUMP names a file that gets all of it. PTX_CACHE names a folder that keeps
// what was compiled: tests run in processes of their own and need the same kernels, and a compilation takes longer
// than most launches. An entry is used only for the same library, source and options, letter by letter.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

template <class Function>
Function* real(const char* name) {
    static void* const library = dlopen(std::getenv("NVRTC_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

struct Program {
    std::string source, name;
    std::string ptx;           // of the cache; empty if `compiled` has it
    void* compiled = nullptr;  // of the real NVRTC
};
Program& program_of(void* handle) { return *static_cast<Program*>(handle); }

// The library's path, size and time stand for its contents.
std::string library_id() {
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::weakly_canonical(std::getenv("NVRTC_LIBRARY"), ignored);
    return path.string() + ' ' + std::to_string(std::filesystem::file_size(path, ignored)) + ' ' +
           std::to_string(std::filesystem::last_write_time(path, ignored).time_since_epoch().count());
}

// An entry is its key, a zero byte, and the PTX.
class CacheEntry {
public:
    CacheEntry(const Program& program, const std::vector<std::string>& options) {
        const char* folder = std::getenv("PTX_CACHE");
        if (folder == nullptr) return;
        key_ = library_id() + '\n';
        for (const std::string& option : options) key_ += option + '\n';
        key_ += program.source;
        path_ = std::string(folder) + "/" + std::to_string(std::hash<std::string>{}(key_)) + ".ptx";
    }
    [[nodiscard]] std::string read() const {
        std::ifstream in(path_, std::ios::binary);
        const std::string all(std::istreambuf_iterator<char>(in), {});
        const bool fits = !key_.empty() && all.size() > key_.size() + 1 && all.compare(0, key_.size(), key_) == 0 &&
                          all[key_.size()] == '\0';
        return fits ? all.substr(key_.size() + 1) : "";
    }
    // Under another name first: other tests, and other threads of this one, read and write at the same time.
    void write(const std::string& ptx) const {
        if (key_.empty()) return;
        std::error_code ignored;
        std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
        const std::string mine =
            path_ + "." + std::to_string(getpid()) + "." + std::to_string(reinterpret_cast<std::uintptr_t>(this));
        std::ofstream(mine, std::ios::binary) << key_ << '\0' << ptx << std::flush;
        std::filesystem::rename(mine, path_, ignored);
    }

private:
    std::string key_, path_;
};

std::string ptx_of(void* compiled) {
    std::size_t size = 0;
    if (real<int(void*, std::size_t*)>("nvrtcGetPTXSize")(compiled, &size) != 0 || size == 0) return "";
    std::string text(size, '\0');
    if (real<int(void*, char*)>("nvrtcGetPTX")(compiled, text.data()) != 0) return "";
    return text.c_str();
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { return real<int(int*, int*)>("nvrtcVersion")(major, minor); }
const char* nvrtcGetErrorString(int code) { return real<const char*(int)>("nvrtcGetErrorString")(code); }
int nvrtcCreateProgram(void** program, const char* source, const char* name, int count, const char* const*,
                       const char* const*) {
    if (count != 0) return 3;  // no kernel of this project has headers of its own
    *program = new Program{source, name, {}, nullptr};
    return 0;
}
int nvrtcDestroyProgram(void** program) {
    Program& p = program_of(*program);
    if (p.compiled != nullptr) real<int(void**)>("nvrtcDestroyProgram")(&p.compiled);
    delete &p;
    return *program = nullptr, 0;
}
// Asked for the virtual architecture of the same name, NVRTC stops at the PTX.
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
    Program& p = program_of(program);
    std::vector<std::string> texts(options, options + count);
    for (std::string& text : texts)
        if (const auto at = text.find("=sm_"); at != std::string::npos) text.replace(at, 4, "=compute_");
    const CacheEntry entry(p, texts);
    if (p.ptx = entry.read(); !p.ptx.empty()) return 0;
    std::vector<const char*> all;
    for (const std::string& text : texts) all.push_back(text.c_str());
    int code = real<int(void**, const char*, const char*, int, const char* const*, const char* const*)>(
        "nvrtcCreateProgram")(&p.compiled, p.source.c_str(), p.name.c_str(), 0, nullptr, nullptr);
    if (code != 0) return code;
    code = real<int(void*, int, const char* const*)>("nvrtcCompileProgram")(p.compiled, count, all.data());
    if (code != 0) return code;
    p.ptx = ptx_of(p.compiled);
    entry.write(p.ptx);
    return 0;
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
    Program& p = program_of(program);
    if (p.compiled == nullptr) return *size = 1, 0;
    return real<int(void*, std::size_t*)>("nvrtcGetProgramLogSize")(p.compiled, size);
}
int nvrtcGetProgramLog(void* program, char* log) {
    Program& p = program_of(program);
    if (p.compiled == nullptr) return *log = '\0', 0;
    return real<int(void*, char*)>("nvrtcGetProgramLog")(p.compiled, log);
}
int nvrtcGetPTXSize(void* program, std::size_t* size) {
    const Program& p = program_of(program);
    return *size = p.ptx.size() + 1, p.ptx.empty() ? 4 : 0;
}
int nvrtcGetPTX(void* program, char* ptx) {
    const Program& p = program_of(program);
    if (p.ptx.empty()) return 4;
    std::memcpy(ptx, p.ptx.c_str(), p.ptx.size() + 1);
    if (const char* path = std::getenv("PTX_DUMP"); path != nullptr)
        if (std::FILE* file = std::fopen(path, "a")) {
            std::fputs(ptx, file);
            std::fclose(file);
        }
    return 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetCUBIN(void* program, char* image) { return nvrtcGetPTX(program, image); }
int nvrtcGetNumSupportedArchs(int* count) { return real<int(int*)>("nvrtcGetNumSupportedArchs")(count); }
int nvrtcGetSupportedArchs(int* all) { return real<int(int*)>("nvrtcGetSupportedArchs")(all); }

}  // extern "C"
