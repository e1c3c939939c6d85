// NVIDIA's matrix library, as much of it as one product needs, found at run time. Names and values are those of
// cublasLt.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "measure/dynamic/library.hpp"

namespace gambrel::measure_detail {

struct LtHandleObject;
struct LtDescriptorObject;
struct LtLayoutObject;
struct LtPreferenceObject;
using LtHandle = LtHandleObject*;
using LtDescriptor = LtDescriptorObject*;
using LtLayout = LtLayoutObject*;
using LtPreference = LtPreferenceObject*;
struct LtAlgorithm {
    std::uint64_t data[8];
};
struct LtHeuristic {
    LtAlgorithm algorithm;
    std::size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

// cublasLtMatmulDescAttributes_t
inline constexpr int kLtTransposeA = 3, kLtTransposeB = 4, kLtFastAccumulation = 25;
inline constexpr int kLtMaxWorkspace = 1;                        // cublasLtMatmulPreferenceAttributes_t
inline constexpr int kLtTranspose = 1;                           // CUBLAS_OP_T
inline constexpr int kLtInvalidValue = 7, kLtNotSupported = 15;  // cublasStatus_t

struct CublasLt {
    DynamicLibrary library;
    LtHandle handle = nullptr;
    int (*create)(LtHandle*) = nullptr;
    int (*destroy)(LtHandle) = nullptr;
    int (*descriptor_create)(LtDescriptor*, int compute, int scale) = nullptr;
    int (*descriptor_set)(LtDescriptor, int, const void*, std::size_t) = nullptr;
    int (*descriptor_destroy)(LtDescriptor) = nullptr;
    int (*layout_create)(LtLayout*, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t lead) = nullptr;
    int (*layout_destroy)(LtLayout) = nullptr;
    int (*preference_create)(LtPreference*) = nullptr;
    int (*preference_set)(LtPreference, int, const void*, std::size_t) = nullptr;
    int (*preference_destroy)(LtPreference) = nullptr;
    int (*heuristic)(LtHandle, LtDescriptor, LtLayout, LtLayout, LtLayout, LtLayout, LtPreference, int, LtHeuristic*,
                     int*) = nullptr;
    int (*matmul)(LtHandle, LtDescriptor, const void* alpha, const void* a, LtLayout, const void* b, LtLayout,
                  const void* beta, const void* c, LtLayout, void* d, LtLayout, const LtAlgorithm*, void* workspace,
                  std::size_t workspace_size, void* stream) = nullptr;

    CublasLt() = default;
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;
    ~CublasLt() {
        if (handle != nullptr) destroy(handle);
    }
};
// Needs a current context. Of several versions, the newest that the driver (its CUDA version: 12040) supports is tried
// first.
Result<std::shared_ptr<const CublasLt>> open_cublaslt(int driver);

}  // namespace gambrel::measure_detail
