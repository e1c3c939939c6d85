// The library ceiling: one n x n x n product by cuBLASLt, timed on the device and checked at a few entries.
#pragma once

#include <functional>
#include <memory>

#include "measure/cuda/cublaslt.hpp"
#include "measure/gpu/backend.hpp"

namespace gambrel::measure_detail {

struct GemmHost {
    std::shared_ptr<Backend> backend;
    std::shared_ptr<const CublasLt> library;
    void* stream = nullptr;
    int units = 1;
    // Time on the device of what `work` puts on the stream.
    std::function<Result<Seconds>(const std::function<Result<void>()>& work)> timed;
};
Result<Preparation> prepare_library_gemm(GemmHost host, const Probe& probe);

// Types of one product: values of cudaDataType_t and cublasComputeType_t.
struct GemmTypes {
    int input = 0, output = 0, compute = 0, scale = 0;
    std::size_t input_bytes = 0, output_bytes = 0;
    std::string_view operand;  // packed constants of the fill kernel
};
const GemmTypes* gemm_types(Pipe pipe);  // nullptr: the library is not asked for this pipe

// Entry `index` of an operand as the fill kernel makes it.
double operand_value(Pipe pipe, std::uint64_t index, std::uint32_t salt);

}  // namespace gambrel::measure_detail
