// Buffers and programs of the CUDA backend: each gives back what it holds, unless a kernel hangs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "measure/cuda/cuda_api.hpp"
#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

// What buffers and programs share with the backend.
struct Context {
    std::shared_ptr<const CudaApi> api;
    // A kernel did not end. Calls that free something would wait for it for ever; the end of the process frees it all.
    bool hung = false;
};

class CudaBuffer final : public Buffer {
public:
    CudaBuffer(std::shared_ptr<Context> context, CuPointer address, std::size_t size)
        : context_(std::move(context)), address_(address), size_(size) {}
    ~CudaBuffer() override {
        if (!context_->hung) context_->api->cuMemFree(address_);
    }
    CudaBuffer(const CudaBuffer&) = delete;
    CudaBuffer& operator=(const CudaBuffer&) = delete;
    [[nodiscard]] std::size_t size() const override { return size_; }
    [[nodiscard]] CuPointer address() const { return address_; }

private:
    std::shared_ptr<Context> context_;
    CuPointer address_;
    std::size_t size_;
};

class CudaProgram final : public Program {
public:
    CudaProgram(std::shared_ptr<Context> context, CuModule module, std::string entry, std::uint64_t hash)
        : name(std::move(entry)), code(hash), context_(std::move(context)), module_(module) {}
    ~CudaProgram() override {
        if (!context_->hung) context_->api->cuModuleUnload(module_);
    }
    CudaProgram(const CudaProgram&) = delete;
    CudaProgram& operator=(const CudaProgram&) = delete;
    std::string name;
    std::uint64_t code;
    CuFunction function = nullptr;

private:
    std::shared_ptr<Context> context_;
    CuModule module_;
};

// FNV-1a: two runs of the same code on two machines can be compared by it.
inline std::uint64_t hash_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

inline const CudaProgram& program_of(const Launch& launch) { return *static_cast<const CudaProgram*>(launch.program); }

}  // namespace gambrel::measure_detail
