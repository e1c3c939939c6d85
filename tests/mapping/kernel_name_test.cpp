// What a kernel's name says of how it runs: names that profilers really printed, and text that is not one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/mapping.hpp>

namespace gambrel {
namespace {

using Family = KernelName::Family;

TEST(KernelNames, a_cudnn_kernel_on_cuda_cores_gives_its_tile_and_pass) {
    const KernelName name = parse_kernel_name("volta_scudnn_128x64_relu_interior_nn_v1");
    EXPECT_EQ(name.family, Family::cudnn);
    EXPECT_EQ(name.tile, (Tile{128, 64, 0}));
    EXPECT_EQ(name.pass, Pass::fwd);
    EXPECT_EQ(name.tensor_core, false);
    EXPECT_EQ(name.split_k, false);
    EXPECT_FALSE(name.nhwc.has_value());
    EXPECT_EQ(name.slices, 1);
}

TEST(KernelNames, prefixes_of_later_cudnn_versions_change_nothing) {
    const KernelName name = parse_kernel_name("cudnn_infer_maxwell_scudnn_128x32_relu_small_nn_v1");
    EXPECT_EQ(name.tile, (Tile{128, 32, 0}));
    EXPECT_EQ(name.pass, Pass::fwd);
    EXPECT_EQ(name.tensor_core, false);
}

TEST(KernelNames, strided_kernels_are_gradients) {
    EXPECT_EQ(parse_kernel_name("volta_scudnn_128x64_stridedB_interior_nn_v1").pass, Pass::dgrad);
    const KernelName split = parse_kernel_name("volta_scudnn_128x128_stridedB_splitK_xregs_large_nn_v1");
    EXPECT_EQ(split.pass, Pass::wgrad);
    EXPECT_EQ(split.split_k, true);
}

TEST(KernelNames, a_tensor_core_kernel_of_volta_gives_tile_vector_and_layout) {
    const KernelName name =
        parse_kernel_name("volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_filter1x1_stg8_interior_nchw_nn_v1");
    EXPECT_EQ(name.family, Family::cudnn);
    EXPECT_EQ(name.tile, (Tile{256, 128, 0}));
    EXPECT_EQ(name.vector, 8);
    EXPECT_EQ(name.tensor_core, true);
    EXPECT_EQ(name.nhwc, false);
    EXPECT_EQ(name.pass, Pass::fwd);
}

TEST(KernelNames, a_tile_of_three_numbers_has_its_k_step_and_a_filter_shape_is_no_tile) {
    const KernelName name = parse_kernel_name("Volta_hmma_implicit_gemm_wgrad_fp32_nhwc_128x128x64x1_1x1x1x0x1");
    EXPECT_EQ(name.family, Family::cudnn);
    EXPECT_EQ(name.tile, (Tile{128, 128, 64}));
    EXPECT_EQ(name.pass, Pass::wgrad);
    EXPECT_EQ(name.nhwc, true);
    EXPECT_EQ(name.tensor_core, true);
    EXPECT_EQ(parse_kernel_name("Volta_hmma_implicit_gemm_fprop_1x3x3x0x1").tile, Tile{});
}

TEST(KernelNames, the_older_engines_carry_logarithms) {
    const KernelName wgrad = parse_kernel_name(
        "void cudnn::detail::wgrad_alg0_engine<float, 128, 6, 8, 3, 3, 5, true, 512>(int, int, int, float const*)");
    EXPECT_EQ(wgrad.family, Family::engine);
    EXPECT_EQ(wgrad.tile, (Tile{64, 256, 8}));
    EXPECT_EQ(wgrad.pass, Pass::wgrad);
    EXPECT_EQ(wgrad.tensor_core, false);
    const KernelName fwd = parse_kernel_name(
        "void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1, true, false, true>(int, int, int)");
    EXPECT_EQ(fwd.tile, (Tile{64, 128, 8}));
    EXPECT_EQ(fwd.pass, Pass::fwd);
}

TEST(KernelNames, the_older_engines_are_read_as_ncu_spells_them) {
    const KernelName name = parse_kernel_name(
        "void implicit_convolve_sgemm<float, float, (int)128, (int)6, (int)7, (int)3, (int)3, (int)5, (int)1, "
        "(bool)0>(int)");
    EXPECT_EQ(name.tile, (Tile{64, 128, 8}));
    EXPECT_FALSE(name.precomputed);
    EXPECT_TRUE(parse_kernel_name("void precomputed_convolve_sgemm<float, (int)1024, (int)5, (int)5, (int)4>(int)")
                    .precomputed);
    EXPECT_TRUE(parse_kernel_name("void explicit_convolve_sgemm<float, int, (int)128, (int)6, (int)7, (int)3>(int)")
                    .explicit_matrix);
}

// TensorRT's FP32 tensors that are multiplied in TF32.
TEST(KernelNames, inputs_in_f32_that_are_multiplied_in_tf32_are_of_tensor_cores) {
    const KernelName name = parse_kernel_name(
        "sm80_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage3_warpsize4x2x1_g1_"
        "tensor16x8x8_t1r3s3");
    EXPECT_EQ(name.tensor_core, true);
    EXPECT_EQ(name.tile.m, 256);
    EXPECT_EQ(name.tile.n, 64);
}

TEST(KernelNames, a_name_cut_short_that_says_f32f32_is_not_of_tensor_cores) {
    EXPECT_EQ(parse_kernel_name("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage").tensor_core, false);
    EXPECT_EQ(parse_kernel_name("sm80_xmma_gemm_tf32f32_tf32f32_f32_nn_n_tilesize128x64x16_stage3").tensor_core, true);
}

TEST(KernelNames, an_engine_with_arguments_that_are_no_logarithms_has_no_tile) {
    EXPECT_EQ(parse_kernel_name("dgrad_engine<float, 128, 64, 128, 8>(int)").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("dgrad_engine<float, 128").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("dgrad_engine<").tile, Tile{});
}

TEST(KernelNames, a_sliced_gemm_shares_its_k_step) {
    const KernelName name = parse_kernel_name("ampere_sgemm_32x32_sliced1x4_tn");
    EXPECT_EQ(name.family, Family::gemm);
    EXPECT_EQ(name.tile, (Tile{32, 32, 0}));
    EXPECT_EQ(name.slices, 4);
    EXPECT_EQ(name.tensor_core, false);
    EXPECT_FALSE(name.pass.has_value());
}

TEST(KernelNames, cutlass_gives_k_step_and_stages) {
    const KernelName name = parse_kernel_name("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8");
    EXPECT_EQ(name.family, Family::gemm);
    EXPECT_EQ(name.tile, (Tile{128, 64, 64}));
    EXPECT_EQ(name.stages, 6);
    EXPECT_EQ(name.tensor_core, true);
}

TEST(KernelNames, cutlass_on_cuda_cores_is_none_of_tensor_cores) {
    const KernelName name = parse_kernel_name("void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(T1)");
    EXPECT_EQ(name.tile, (Tile{128, 64, 8}));
    EXPECT_EQ(name.stages, 5);
    EXPECT_EQ(name.tensor_core, false);
}

TEST(KernelNames, xmma_gives_tile_and_stages) {
    const KernelName name = parse_kernel_name(
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__"
        "5x_cublas");
    EXPECT_EQ(name.family, Family::gemm);
    EXPECT_EQ(name.tile, (Tile{128, 128, 64}));
    EXPECT_EQ(name.tensor_core, true);
    const KernelName staged = parse_kernel_name(
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16_stage4_warpsize2x2x1_g1_"
        "tensor16x8x8_kernel_cudnn");
    EXPECT_EQ(staged.stages, 4);
    EXPECT_EQ(staged.nhwc, true);
    EXPECT_EQ(staged.pass, Pass::fwd);
    EXPECT_EQ(staged.tensor_core, true);
}

TEST(KernelNames, xmma_that_multiplies_on_cuda_cores_says_so) {
    const KernelName name = parse_kernel_name(
        "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8_stage3_warpsize1x2x1_g1_ffma_"
        "simt_t_r_s_kernel_cudnn");
    EXPECT_EQ(name.tile, (Tile{32, 32, 8}));
    EXPECT_EQ(name.tensor_core, false);
    EXPECT_EQ(name.nhwc, false);
}

TEST(KernelNames, every_matrix_instruction_is_known_in_a_name) {
    for (const char* text : {"volta_h884gemm_64x64_ldg8_nn", "turing_h1688gemm_128x128_ldg8_stages_32x1_tn",
                             "turing_int8_i8816cudnn_int8_256x128_ldg16_relu_singleBuffer_medium_nt_v1",
                             "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x4_tn",
                             "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT"})
        EXPECT_EQ(parse_kernel_name(text).tensor_core, true) << text;
}

TEST(KernelNames, the_stages_of_ldg_kernels_stand_behind_a_word) {
    const KernelName name = parse_kernel_name("ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x4_tn");
    EXPECT_EQ(name.tile, (Tile{128, 64, 64}));
    EXPECT_EQ(name.stages, 4);
}

TEST(KernelNames, cublas_of_hopper_names_tile_k_step_and_stages) {
    const KernelName name = parse_kernel_name("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT");
    EXPECT_EQ(name.family, Family::gemm);
    EXPECT_EQ(name.tile, (Tile{128, 256, 64}));
    EXPECT_EQ(name.stages, 4);
}

TEST(KernelNames, the_strided_1x1_dgrad_runs_on_tensor_cores_and_leaves_zeros) {
    const KernelName name = parse_kernel_name("dgrad_1x1_stride_2x2");
    EXPECT_EQ(name.tile, (Tile{256, 64, 0}));
    EXPECT_EQ(name.pass, Pass::dgrad);
    EXPECT_EQ(name.tensor_core, true);
    EXPECT_TRUE(name.leaves_zeros);
    EXPECT_FALSE(
        parse_kernel_name("volta_fp16_s884cudnn_fp16_128x128_ldg8_dgrad_f2f_exp_small_nhwc2nchw_tt_v1").leaves_zeros);
}

TEST(KernelNames, winograd_is_known_as_what_no_tile_describes) {
    const KernelName name = parse_kernel_name("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1");
    EXPECT_EQ(name.family, Family::winograd);
    EXPECT_EQ(name.tile, Tile{});
}

// Names are remembered, some in the same place.
TEST(KernelNames, a_name_says_the_same_however_many_came_before_it) {
    const auto tile_of = [](int i) { return Tile{16 + i, 8 + i, 0}; };
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 400; ++i) {
            const std::string name = "sgemm_" + std::to_string(16 + i) + "x" + std::to_string(8 + i) + "_nn";
            EXPECT_EQ(parse_kernel_name(name).tile, tile_of(i)) << name;
            EXPECT_EQ(parse_kernel_name(name).tile, tile_of(i)) << name;
            EXPECT_EQ(parse_kernel_name(name + std::string(600, 'x')).tile, tile_of(i)) << name;
        }
}

TEST(KernelNames, other_text_says_nothing) {
    for (const char* text : {"", " ", "void at::native::vectorized_elementwise_kernel<4>(int)", "128x64",
                             "splitKreduce_kernel", "x", "<", "<<<>>>", "\xff\xfe 64x64"}) {
        const KernelName name = parse_kernel_name(text);
        EXPECT_EQ(name.family, Family::other) << text;
        EXPECT_EQ(name.tile, Tile{}) << text;
        EXPECT_FALSE(name.tensor_core.has_value()) << text;
    }
}

TEST(KernelNames, numbers_that_are_no_tile_are_passed_over) {
    EXPECT_EQ(parse_kernel_name("gemm_99999999999999999999x64_nn").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("gemm_4096x4096").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("gemm_2x2").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("sgemm_warp4x64_nn").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("gemm_64x").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("gemm_0x0").tile, Tile{});
    EXPECT_EQ(parse_kernel_name("sgemm_128x64x99999999999_nn").tile.m, 128);
    const KernelName wild = parse_kernel_name("sgemm_128x64_sliced1x-4_ldg2000000000_stage99999999");
    EXPECT_EQ(wild.slices, 1);
    EXPECT_EQ(wild.vector, 0);
    EXPECT_EQ(wild.stages, 0);
}

}  // namespace
}  // namespace gambrel
