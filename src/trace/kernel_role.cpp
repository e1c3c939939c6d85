#include <array>

#include "trace/described.hpp"
#include "trace/tensors.hpp"

namespace gambrel::trace_detail {
namespace {

struct RoleName {
    std::string_view part;
    Role role;
};
constexpr std::array<RoleName, 38> kRoles = {{
    {"nchwToNhwc", Role::to_nhwc},
    {"nchwToFoldedNhwc", Role::to_nhwc},
    {"nchw2nhwc", Role::to_nhwc},
    {"nhwcAddPadding", Role::to_nhwc},
    {"nhwcToFoldedNhwc", Role::to_nhwc},
    {"nhwcToNchw", Role::to_nchw},
    {"nhwc2nchw", Role::to_nchw},
    {"foldedNhwcToNhwc", Role::to_nchw},
    {"convertTensor_kernel", Role::to_nchw},
    {"tensorTransformGeneric", Role::to_nhwc},
    {"transpose_readWrite", Role::to_nhwc},
    {"splitKreduce", Role::split_reduce},
    {"splitK_reduce", Role::split_reduce},
    {"split_k_reduce", Role::split_reduce},
    {"cutlass::reduction", Role::split_reduce},
    {"scalePackedTensor", Role::scale},
    {"scaleTensor", Role::scale},
    {"computeOffsets", Role::offsets},
    {"computeBOffsets", Role::offsets},
    {"computeWgradOffsets", Role::offsets},
    {"computeWgradSplitKOffsets", Role::offsets},
    {"computeWgradBOffsets", Role::offsets},
    {"im2col", Role::im2col},
    {"generateWinogradTilesKernel", Role::winograd_filter},
    {"winogradForwardData", Role::winograd_input},
    {"winogradWgradData", Role::winograd_input},
    {"winogradForwardFilter", Role::winograd_filter},
    {"winogradForwardOutput", Role::winograd_output},
    {"winogradWgradDelta", Role::winograd_filter},
    {"winogradWgradOutput", Role::winograd_output},
    {"fft", Role::fft},
    {"flash_bwd_dot_do_o", Role::before_attention},
    {"FlashAttnBwdPreprocess", Role::before_attention},
    {"dot_do_o", Role::before_attention},
    {"flash_bwd_convert_dq", Role::after_attention},
    {"flash_bwd_convert_dkv", Role::after_attention},
    {"FlashAttnBwdPostprocess", Role::after_attention},
    {"FlashAttnFwdCombine", Role::after_attention},
}};

}  // namespace

bool is_elementwise(std::string_view kernel) {
    return has(kernel, "elementwise_kernel") || has(kernel, "elementwise_with_index");
}

bool is_gemv(std::string_view kernel) {
    return has(kernel, "gemv") || has(kernel, "gemmSN") || has(kernel, "dot_kernel") || has(kernel, "reduce_1Block") ||
           has(kernel, "gemmk1");
}

Role role_of(std::string_view kernel) {
    for (const auto& [part, role] : kRoles)
        if (has(kernel, part)) return role;
    return is_elementwise(kernel) ? Role::elementwise : Role::main;
}

}  // namespace gambrel::trace_detail
