// NVIDIA's run-time compiler, opened at run time: source text to machine code for one architecture, or to PTX for a
// GPU that is younger than the compiler. Needs no GPU and no driver.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gambrel/machine.hpp>

#include "measure/dynamic/library.hpp"
#include "measure/gpu/kernel_source.hpp"

namespace gambrel::measure_detail {

class Nvrtc {
public:
    // `driver` is the CUDA version that the driver supports (12040), 0 if unknown: a newer compiler is the last choice.
    static Result<std::shared_ptr<const Nvrtc>> open(int driver = 0);

    struct Binary {
        std::string image;  // cubin, or PTX with its final zero
        bool ptx = false;
    };
    // `architecture` is "sm_90a" (machine code) or "compute_90" (PTX). A failure carries the compiler's log.
    [[nodiscard]] Result<Binary> compile(const KernelSource& source, const std::string& architecture) const;

    // What to compile for: the architecture with its "a" where it has one, PTX for the newest that the compiler knows
    // if the GPU is newer. Empty: the compiler supports no architecture that this GPU can run.
    [[nodiscard]] std::string architecture_for(ComputeCapability cc) const;
    [[nodiscard]] std::string version() const;  // "12.9"
    [[nodiscard]] int version_number() const { return 100 * major_ + minor_; }
    [[nodiscard]] const std::string& path() const { return library_.path(); }

private:
    struct ProgramObject;
    using Handle = ProgramObject*;
    [[nodiscard]] std::string log_of(Handle program) const;

    DynamicLibrary library_;
    std::vector<int> supported_;  // 75, 80, ...; empty: the compiler is too old to say
    int major_ = 0, minor_ = 0;
    int (*version_)(int*, int*) = nullptr;
    const char* (*error_text_)(int) = nullptr;
    int (*create_)(Handle*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy_)(Handle*) = nullptr;
    int (*compile_)(Handle, int, const char* const*) = nullptr;
    int (*log_size_)(Handle, std::size_t*) = nullptr;
    int (*log_)(Handle, char*) = nullptr;
    int (*ptx_size_)(Handle, std::size_t*) = nullptr;
    int (*ptx_)(Handle, char*) = nullptr;
    int (*cubin_size_)(Handle, std::size_t*) = nullptr;  // since 11.1
    int (*cubin_)(Handle, char*) = nullptr;
};

}  // namespace gambrel::measure_detail
