// The real NVRTC (NVRTC_LIBRARY names it), except that a caller who asks for machine code gets the PTX that it is made
// from, which is what the model runs. PTX_DUMP names a file that gets all of it.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace {

template <class Function>
Function* real(const char* name) {
    static void* const library = dlopen(std::getenv("NVRTC_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { return real<int(int*, int*)>("nvrtcVersion")(major, minor); }
const char* nvrtcGetErrorString(int code) { return real<const char*(int)>("nvrtcGetErrorString")(code); }
int nvrtcCreateProgram(void** program, const char* source, const char* name, int count, const char* const* headers,
                       const char* const* includes) {
    return real<int(void**, const char*, const char*, int, const char* const*, const char* const*)>(
        "nvrtcCreateProgram")(program, source, name, count, headers, includes);
}
int nvrtcDestroyProgram(void** program) { return real<int(void**)>("nvrtcDestroyProgram")(program); }
// Asked for the virtual architecture of the same name, NVRTC stops at the PTX.
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
    std::vector<std::string> texts(options, options + count);
    for (std::string& text : texts)
        if (const auto at = text.find("=sm_"); at != std::string::npos) text.replace(at, 4, "=compute_");
    std::vector<const char*> all;
    for (const std::string& text : texts) all.push_back(text.c_str());
    return real<int(void*, int, const char* const*)>("nvrtcCompileProgram")(program, count, all.data());
}
int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
    return real<int(void*, std::size_t*)>("nvrtcGetProgramLogSize")(program, size);
}
int nvrtcGetProgramLog(void* program, char* log) { return real<int(void*, char*)>("nvrtcGetProgramLog")(program, log); }
int nvrtcGetPTXSize(void* program, std::size_t* size) {
    return real<int(void*, std::size_t*)>("nvrtcGetPTXSize")(program, size);
}
int nvrtcGetPTX(void* program, char* ptx) {
    const int code = real<int(void*, char*)>("nvrtcGetPTX")(program, ptx);
    if (const char* path = std::getenv("PTX_DUMP"); path != nullptr && code == 0)
        if (std::FILE* file = std::fopen(path, "a")) {
            std::fputs(ptx, file);
            std::fclose(file);
        }
    return code;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetCUBIN(void* program, char* image) { return nvrtcGetPTX(program, image); }
int nvrtcGetNumSupportedArchs(int* count) { return real<int(int*)>("nvrtcGetNumSupportedArchs")(count); }
int nvrtcGetSupportedArchs(int* all) { return real<int(int*)>("nvrtcGetSupportedArchs")(all); }

}  // extern "C"
