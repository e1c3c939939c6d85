// A shared library opened at run time, so that one binary runs with and without NVIDIA's and Khronos' libraries.
// Invariant: an open library stays open until its owner dies. Knows no interface; its users name their functions.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::measure_detail {

class DynamicLibrary {
public:
    DynamicLibrary() = default;
    DynamicLibrary(DynamicLibrary&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
    DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(path_, other.path_);
        return *this;
    }
    DynamicLibrary(const DynamicLibrary&) = delete;
    DynamicLibrary& operator=(const DynamicLibrary&) = delete;
    ~DynamicLibrary();

    // The environment variable, if set, is the only candidate.
    static Result<DynamicLibrary> open(const char* variable, std::span<const std::string> candidates);

    // nullptr if the library has no such function.
    template <class Function>
    [[nodiscard]] Function* find(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name));
    }
    // Fills `function`, or adds its name to `missing`.
    template <class Function>
    void need(Function*& function, const char* name, std::vector<std::string>& missing) const {
        function = find<Function>(name);
        if (function == nullptr) missing.emplace_back(name);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    [[nodiscard]] void* symbol(const char* name) const;
    void* handle_ = nullptr;
    std::string path_;
};

// Names of one of NVIDIA's libraries to try, with the versions ("13", "12", "11.2") in the order in which a driver that
// supports CUDA `driver` (12040; 0: unknown) is likely to run what they make: not newer than itself first.
std::vector<std::string> cuda_library_names(const std::string& stem, std::initializer_list<const char*> versions,
                                            int driver);

// "libcuda.so.1: lacks cuLaunchKernel, ..." if anything is missing.
Result<void> check_missing(const DynamicLibrary& library, const std::vector<std::string>& missing);

}  // namespace gambrel::measure_detail
