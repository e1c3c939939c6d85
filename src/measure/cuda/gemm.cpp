#include "measure/cuda/gemm.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "measure/cuda/cuda_backend.hpp"
#include "measure/gpu/probes.hpp"

namespace gambrel::measure_detail {

namespace {

constexpr std::size_t kWorkspace = 64U << 20U;  // what NVIDIA advises for Hopper; older GPUs need less
constexpr int kCandidates = 8;                  // algorithms that the library is asked for
constexpr std::uint32_t kSaltA = 1, kSaltB = 2;
// Sums are exact in FP32 but for FP8, whose accumulators may keep fewer bits; a wrong product is off by far more.
// Fast accumulation keeps some 14 bits of every sum.
constexpr double kTolerance = 1e-3, kFastTolerance = 0.02;

// CUDA_R_32F 0, 64F 1, 16F 2, 8I 3, 32I 10, 16BF 14, 8F_E4M3 28; CUBLAS_COMPUTE_32F 68, 64F 70, 32I 72,
// 32F_FAST_TF32 77.
constexpr GemmTypes kFp64{1, 1, 70, 1, 8, 8, "OPERAND_FP64"}, kFp32{0, 0, 68, 0, 4, 4, "OPERAND_TF32"},
    kTf32{0, 0, 77, 0, 4, 4, "OPERAND_TF32"}, kFp16{2, 0, 68, 0, 2, 4, "OPERAND_FP16"},
    kBf16{14, 0, 68, 0, 2, 4, "OPERAND_BF16"}, kFp8{28, 0, 68, 0, 1, 4, "OPERAND_FP8"},
    kInt8{3, 10, 72, 10, 1, 4, "OPERAND_INT8"};

class GemmProbe final : public PreparedProbe {
public:
    GemmProbe(GemmHost host, const Probe& probe, const GemmTypes& types)
        : host_(std::move(host)),
          lt_(*host_.library),
          probe_(probe),
          types_(types),
          n_(static_cast<std::uint64_t>(probe.extent)) {}
    ~GemmProbe() override {
        for (LtLayout layout : {input_, output_})
            if (layout != nullptr) lt_.layout_destroy(layout);
        if (descriptor_ != nullptr) lt_.descriptor_destroy(descriptor_);
    }
    GemmProbe(const GemmProbe&) = delete;
    GemmProbe& operator=(const GemmProbe&) = delete;

    // "" if the library can do it, else why not.
    Result<std::string> build() {
        // A transposed, B not, n a multiple of 16: the one arrangement that all types can have (FP8 before cc 10 and
        // INT8 have no other). FP8's scales are 1 where no pointer to them is set.
        int code = lt_.descriptor_create(&descriptor_, types_.compute, types_.scale);
        const int transpose = kLtTranspose;
        if (code == 0) code = lt_.descriptor_set(descriptor_, kLtTransposeA, &transpose, sizeof transpose);
        const std::int8_t fast = is_fast() ? 1 : 0;
        if (code == 0 && is_fast()) code = lt_.descriptor_set(descriptor_, kLtFastAccumulation, &fast, sizeof fast);
        if (code == 0) code = lt_.layout_create(&input_, types_.input, n_, n_, static_cast<std::int64_t>(n_));
        if (code == 0) code = lt_.layout_create(&output_, types_.output, n_, n_, static_cast<std::int64_t>(n_));
        // An old library does not have the type (invalid value), or not for this GPU (not supported).
        if (code == kLtInvalidValue || code == kLtNotSupported)
            return fmt::format("this cuBLASLt does not support such matrices (status {})", code);
        if (code != 0) return failure("cuBLASLt", fmt::format("describing the product failed: status {}", code));
        if (const std::string reason = choose(); !reason.empty()) return reason;
        const std::size_t inputs = n_ * n_ * types_.input_bytes;
        if (auto made = allocate_all(
                *host_.backend,
                {{&a_, inputs}, {&b_, inputs}, {&c_, n_ * n_ * types_.output_bytes}, {&workspace_, kWorkspace}});
            !made)
            return tl::unexpected(made.error());
        if (auto filled = fill(); !filled) return tl::unexpected(filled.error());
        pick_fastest();
        return std::string{};
    }

    Result<Sample> run(Bytes, std::int64_t repetitions) override {
        const auto time = host_.timed([&]() -> Result<void> {
            for (std::int64_t i = 0; i < repetitions; ++i)
                if (const int code = multiply(); code != 0)
                    return failure("cuBLASLt", fmt::format("cublasLtMatmul failed: status {}", code));
            return {};
        });
        if (!time) return tl::unexpected(time.error());
        Sample sample;
        sample.time = *time;
        sample.flop = 2 * std::pow(static_cast<double>(n_), 3) * static_cast<double>(repetitions);
        const Condition now = host_.backend->condition();
        sample.clock = now.clock;
        sample.throttled = now.throttled;
        auto fault = check();
        if (!fault) return tl::unexpected(fault.error());
        sample.fault = std::move(*fault);
        return sample;
    }

private:
    [[nodiscard]] bool is_fast() const { return probe_.variant == MatrixVariant::fast_accumulation; }

    std::string choose() {
        LtPreference preference = nullptr;
        int code = lt_.preference_create(&preference);
        if (code == 0) code = lt_.preference_set(preference, kLtMaxWorkspace, &kWorkspace, sizeof kWorkspace);
        candidates_.resize(kCandidates);
        int found = 0;
        if (code == 0)
            code = lt_.heuristic(lt_.handle, descriptor_, input_, input_, output_, output_, preference, kCandidates,
                                 candidates_.data(), &found);
        if (preference != nullptr) lt_.preference_destroy(preference);
        if (code != 0 || found == 0) return fmt::format("cuBLASLt offers no such product here (status {})", code);
        candidates_.resize(static_cast<std::size_t>(found));
        algorithm_ = candidates_.front().algorithm;
        return {};
    }

    // The library ranks its algorithms without running them, so the first is not always the fastest: each is timed,
    // after a run that is not.
    void pick_fastest() {
        std::optional<Seconds> best;
        if (candidates_.size() == 1) return;
        const LtAlgorithm first = algorithm_;
        LtAlgorithm fastest = first;
        for (const LtHeuristic& candidate : candidates_) {
            algorithm_ = candidate.algorithm;
            const auto once = [this]() -> Result<void> {
                if (const int code = multiply(); code != 0) return failure("cuBLASLt", fmt::format("status {}", code));
                return {};
            };
            if (candidate.state != 0 || !host_.timed(once)) continue;
            const auto time = host_.timed(once);
            if (time && (!best || *time < *best)) best = *time, fastest = candidate.algorithm;
        }
        algorithm_ = fastest;
    }

    Result<void> fill() {
        const Shape shape{256, 1, 1, 0};
        auto program = host_.backend->compile(matrix_fill_source(types_.operand, shape));
        if (!program) return tl::unexpected(program.error());
        const std::size_t word = types_.input_bytes == 8 ? 8 : 4;
        const auto count = static_cast<std::uint32_t>(n_ * n_ * types_.input_bytes / word);
        for (const auto& [buffer, salt] : {std::pair{a_.get(), kSaltA}, std::pair{b_.get(), kSaltB}}) {
            const Buffer* target = buffer;
            if (const auto time = host_.backend->launch(
                    {program->get(), static_cast<std::uint32_t>(host_.units) * 8, 256, {target, count, salt}});
                !time)
                return tl::unexpected(time.error());
        }
        return {};
    }

    int multiply() {
        // alpha and beta have the type of the scale.
        const double one = 1, none = 0;
        const float one_single = 1, none_single = 0;
        const std::int32_t one_whole = 1, none_whole = 0;
        const void* alpha = types_.scale == 1    ? static_cast<const void*>(&one)
                            : types_.scale == 10 ? &one_whole
                                                 : static_cast<const void*>(&one_single);
        const void* beta = types_.scale == 1    ? static_cast<const void*>(&none)
                           : types_.scale == 10 ? &none_whole
                                                : static_cast<const void*>(&none_single);
        const auto at = [](const Buffer& buffer) { return reinterpret_cast<void*>(address_of(buffer)); };
        return lt_.matmul(lt_.handle, descriptor_, alpha, at(*a_), input_, at(*b_), input_, beta, at(*c_), output_,
                          at(*c_), output_, &algorithm_, at(*workspace_), kWorkspace, host_.stream);
    }

    // A few entries of the result, computed again: column by column, entry (i, j) is row i of A by column j of B.
    Result<std::optional<std::string>> check() {
        // Only these entries are read and spoiled again: all of C would take longer to copy than the product.
        std::array<std::byte, sizeof(double)> bytes{};
        const auto cell = std::span(bytes).first(types_.output_bytes);
        for (std::uint64_t pick = 0; pick < 8; ++pick) {
            const std::uint64_t i = pick * 2654435761U % n_, j = (pick * 40503U + n_ - 1) % n_;
            double expected = 0;
            for (std::uint64_t k = 0; k < n_; ++k)
                expected +=
                    operand_value(probe_.pipe, i * n_ + k, kSaltA) * operand_value(probe_.pipe, j * n_ + k, kSaltB);
            const std::size_t place = (j * n_ + i) * types_.output_bytes;
            if (const auto read = host_.backend->read(cell, *c_, place); !read) return tl::unexpected(read.error());
            const double found = entry(cell);
            std::fill(cell.begin(), cell.end(), std::byte{0xff});
            if (const auto wrote = host_.backend->write(*c_, cell, place); !wrote) return tl::unexpected(wrote.error());
            if (!(std::abs(found - expected) <= (is_fast() ? kFastTolerance : kTolerance) * expected))
                return fmt::format("entry ({}, {}) is {}, expected {}", i, j, found, expected);
        }
        return std::optional<std::string>{};
    }
    [[nodiscard]] double entry(std::span<const std::byte> bytes) const {
        const std::byte* at = bytes.data();
        double wide = 0;
        float single = 0;
        std::int32_t whole = 0;
        switch (types_.output) {
            case 1:
                return std::memcpy(&wide, at, sizeof wide), wide;
            case 10:
                return std::memcpy(&whole, at, sizeof whole), whole;
            default:
                return std::memcpy(&single, at, sizeof single), single;
        }
    }

    GemmHost host_;
    const CublasLt& lt_;
    Probe probe_;
    GemmTypes types_;
    std::uint64_t n_;
    LtDescriptor descriptor_ = nullptr;
    LtLayout input_ = nullptr, output_ = nullptr;
    std::vector<LtHeuristic> candidates_;
    LtAlgorithm algorithm_{};
    std::unique_ptr<Buffer> a_, b_, c_, workspace_;
};

}  // namespace

const GemmTypes* gemm_types(Pipe pipe) {
    switch (pipe) {
        case Pipe::fp64:
        case Pipe::tensor_fp64:
            return &kFp64;
        case Pipe::fp32:
            return &kFp32;
        case Pipe::tensor_tf32:
            return &kTf32;
        case Pipe::tensor_fp16:
            return &kFp16;
        case Pipe::tensor_bf16:
            return &kBf16;
        case Pipe::tensor_fp8:
            return &kFp8;
        case Pipe::tensor_int8:
            return &kInt8;
        default:
            return nullptr;
    }
}

// The same words as varied() in tensor_operands.cu makes.
double operand_value(Pipe pipe, std::uint64_t index, std::uint32_t salt) {
    const GemmTypes* types = gemm_types(pipe);
    if (types == nullptr) return 0;
    if (types->input_bytes == 8)
        return 1 + 0.25 * static_cast<double>((static_cast<std::uint32_t>(index) * 7 + salt * 3) & 3U);
    const std::uint64_t per_word = 4 / types->input_bytes;
    const auto place = static_cast<std::uint32_t>(index / per_word);
    const std::uint32_t pick = (place + 1) * 0x9e3779b9U + (salt + 1) * 0x85ebca6bU;
    // The bit of one element that MANTISSA marks.
    const unsigned bit = types == &kFp16 ? 8 : types == &kBf16 ? 5 : types == &kFp8 ? 1 : types == &kInt8 ? 2 : 21;
    const unsigned shift = static_cast<unsigned>(index % per_word * types->input_bytes * 8) + bit;
    if ((((pick ^ (pick >> 13U)) >> shift) & 1U) == 0) return 1;
    return types == &kInt8 ? 5 : 1.25;
}

Result<Preparation> prepare_library_gemm(GemmHost host, const Probe& probe) {
    const GemmTypes* types = gemm_types(probe.pipe);
    if (types == nullptr) return refusal(fmt::format("cuBLASLt is not asked for {}", title(probe.pipe)));
    if (probe.extent < 16 || probe.extent % 16 != 0)
        return failure(title(probe), fmt::format("n = {}; expected a multiple of 16", probe.extent));
    // On GPUs without the type the library may fall back to another pipe (TF32 to FP32 before cc 8.0).
    const ComputeCapability cc = host.backend->target().cc;
    if (const Probe mma{.action = ProbeAction::mma, .pipe = probe.pipe};
        is_tensor(probe.pipe) && find_tensor_kernel(mma, cc, true) == nullptr)
        return refusal(tensor_refusal(mma, cc));
    auto made = std::make_unique<GemmProbe>(std::move(host), probe, *types);
    auto built = made->build();
    if (!built) return tl::unexpected(built.error());
    if (!built->empty()) return refusal(std::move(*built));
    return prepared(std::move(made));
}

}  // namespace gambrel::measure_detail
