#include <algorithm>

#include "mapping/rules.hpp"

namespace gambrel::mapping_detail {
namespace {

constexpr WarpLoad kSide32{.lanes = 32, .vector = 1, .k_major = false};

WarpLoad k_run(std::int32_t run) { return {.lanes = 32 / run, .vector = 1, .k_major = true}; }

// 16 bytes a thread, a k-step's worth of threads side by side.
WarpLoad vector_k(std::int32_t k_step, std::int32_t vector) {
    return {.lanes = std::max(1, 32 / std::max(1, k_step / vector)), .vector = vector, .k_major = true};
}
WarpLoad vector_side(std::int32_t side, std::int32_t vector) {
    return {.lanes = std::clamp(side / vector, 1, 32), .vector = vector, .k_major = false};
}

// cuDNN's kernels on CUDA cores. NCHW: the runs are those that the L1 counters of V100 show (docs/model/mapping.md).
void simt_convolution(Mapping& m, Pass pass, KernelName::Family family, bool interior, const Architecture& a) {
    const bool engine = family == KernelName::Family::engine;
    switch (pass) {
        case Pass::fwd:
            if (engine && m.layout == Layout::nhwc) {
                m.a = k_run(1);
                m.b = k_run(8);
                m.a.through_l1 = m.b.through_l1 = false;
                return;
            }
            m.a = kSide32;
            if (family == KernelName::Family::direct) {
                m.b = k_run(1);
                return;
            }
            m.b = k_run(engine ? a.engines.filter_run : m.cta.n <= 32 ? 4 : 8);
            m.a.through_l1 = !engine;
            m.b.through_l1 = !engine || a.engines.filters_through_l1;
            return;
        case Pass::dgrad:
            m.a = kSide32;
            m.b = {.lanes = 4, .vector = 1, .k_major = false};
            // By their L2 counters: those that check for padding keep lines in L1, the interior ones do not.
            m.a.through_l1 = m.b.through_l1 = !engine && !interior;
            return;
        case Pass::wgrad:
            break;
    }
    // Gradients of the output by four pixels, inputs pixel by pixel; the split kernels the other way round.
    m.a = engine ? k_run(4) : k_run(1);
    m.b = engine ? k_run(1) : k_run(8);
    m.a.through_l1 = m.b.through_l1 = false;
}

// cuDNN has kernels without bounds checks for gradients that no padding reaches: 1x1.
bool interior_dgrad(const Layer& layer) {
    if (!layer.hints.kernel.empty()) return layer.hints.kernel.find("_interior_") != std::string::npos;
    const auto* v = std::get_if<Convolution>(&layer.op);
    return v && v->r == 1 && v->s == 1 && v->pad_top + v->pad_bottom + v->pad_left + v->pad_right == 0;
}

void tensor_convolution(Mapping& m, Pass pass, std::int32_t vector) {
    if (m.layout == Layout::nchw && pass == Pass::fwd) {
        m.a = vector_side(m.cta.m, vector);
        m.b = vector_k(m.cta.k, vector);
        return;
    }
    m.a = pass == Pass::wgrad ? vector_side(m.cta.m, vector) : vector_k(m.cta.k, vector);
    m.b = pass == Pass::fwd ? vector_k(m.cta.k, vector) : vector_side(m.cta.n, vector);
    // By the L2 counters of V100 the dgrad kernels read every k-step again; forward ones hit in L1.
    if (pass == Pass::dgrad) m.a.through_l1 = m.b.through_l1 = false;
}

// Row-major operands: A runs along k unless it is stored transposed, B along n. A pass exchanges them: dA = dC B^T.
void gemm_loads(Mapping& m, const Gemm& g, Pass pass, std::int32_t vector, bool tensor) {
    bool a_k = !g.a_transposed, b_k = g.b_transposed;
    if (pass == Pass::dgrad) a_k = true, b_k = !g.b_transposed;
    if (pass == Pass::wgrad) a_k = false, b_k = false;
    const auto load = [&](bool k_major, std::int32_t side) {
        if (tensor) return k_major ? vector_k(m.cta.k, vector) : vector_side(side, vector);
        return k_major ? k_run(std::min(8, m.cta.k)) : kSide32;
    };
    m.a = load(a_k, m.cta.m);
    m.b = load(b_k, m.cta.n);
}

}  // namespace

void give_loads(Mapping& m, const Layer& layer, const Target& gpu, const KernelName& name) {
    const bool tensor = is_tensor(m.pipe);
    const auto in_16_bytes = static_cast<std::int32_t>(16 / element_size(layer.precision).value());
    const std::int32_t vector = name.vector > 0 ? name.vector : std::max(1, in_16_bytes);
    if (const auto* gemm = std::get_if<Gemm>(&layer.op))
        gemm_loads(m, *gemm, layer.pass, vector, tensor);
    else if (tensor)
        tensor_convolution(m, layer.pass, vector);
    else
        simt_convolution(m, layer.pass, name.family, interior_dgrad(layer), gpu.architecture);
    if (!gpu.architecture.l1_keeps_global_loads) m.a.through_l1 = m.b.through_l1 = false;
    if (tensor && matrix_of(gpu.architecture).asynchronous_copies) {
        m.a.asynchronous = m.b.asynchronous = true;
        m.a.through_l1 = m.b.through_l1 = false;  // cp.async.cg and TMA bypass L1
    }
}

}  // namespace gambrel::mapping_detail
