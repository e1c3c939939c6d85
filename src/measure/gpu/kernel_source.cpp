#include "measure/gpu/kernel_source.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/embedded.hpp"

namespace gambrel::measure_detail {

namespace {

std::string_view kernel_text(std::string_view name) {
    for (const EmbeddedText& file : embedded("kernels"))
        if (file.name == name) return file.text;
    return {};
}

class Text {
public:
    Text(Dialect dialect, const Shape& shape) : dialect_(dialect), threads_(shape.threads) {
        define("THREADS", shape.threads);
        define("UNROLL", shape.unroll);
        define("CHAINS", shape.chains);
    }
    void define(std::string_view name, std::int64_t value) {
        fmt::format_to(std::back_inserter(text_), "#define {} {}u\n", name, value);
    }
    // Pasted into the names of OpenCL's vector types, so without a suffix.
    void define_width(std::string_view name, int value) {
        fmt::format_to(std::back_inserter(text_), "#define {} {}\n", name, value);
    }
    void define(std::string_view name) { fmt::format_to(std::back_inserter(text_), "#define {}\n", name); }
    KernelSource finish(std::initializer_list<std::string_view> bodies, std::string entry) {
        text_ += kernel_text(dialect_ == Dialect::cuda ? "prelude_cuda" : "prelude_opencl");
        for (const std::string_view body : bodies) text_ += kernel_text(body);
        return {std::move(text_), std::move(entry), threads_};
    }

private:
    std::string text_;
    Dialect dialect_;
    int threads_;
};

std::string_view type_define(Pipe pipe) {
    switch (pipe) {
        case Pipe::fp64:
            return "TYPE_FP64";
        case Pipe::fp32:
            return "TYPE_FP32";
        case Pipe::fp16:
            return "TYPE_FP16";
        case Pipe::bf16:
            return "TYPE_BF16";
        case Pipe::int32:
            return "TYPE_INT32";
        default:
            return "";
    }
}

Text memory_text(const Target& target, const Shape& shape) {
    Text text(target.dialect, shape);
    text.define_width("VEC_WORDS", target.vec_words);
    return text;
}

}  // namespace

int lanes(const Target& target, Pipe pipe) {
    if (target.dialect == Dialect::cuda) return pipe == Pipe::fp16 || pipe == Pipe::bf16 ? 2 : 1;
    return target.lanes[pipe] > 0 ? target.lanes[pipe] : 1;
}

std::string arithmetic_refusal(const Target& target, ProbeAction action, Pipe pipe) {
    if (type_define(pipe).empty()) return fmt::format("{} is not an ordinary pipe", title(pipe));
    // The result would still be right, and the rate a wonder.
    if (pipe == Pipe::int32 && action != ProbeAction::fma) return "compilers fold integer adds and multiplies into one";
    if ((pipe == Pipe::fp16 || pipe == Pipe::bf16) && action != ProbeAction::fma)
        return "compilers make FMAs of packed adds and multiplies";
    if (target.dialect == Dialect::opencl) {
        if (pipe == Pipe::bf16) return "OpenCL C has no BF16 arithmetic";
        if (pipe == Pipe::fp16 && !target.fp16) return "the device lacks cl_khr_fp16";
        if (pipe == Pipe::fp64 && !target.fp64) return "the device lacks cl_khr_fp64";
        return {};
    }
    if (pipe == Pipe::bf16 && target.cc.major < 8)
        return fmt::format("compute capability {} has no BF16 arithmetic", to_text(target.cc));
    if (pipe == Pipe::fp16 && target.cc < ComputeCapability{5, 3})
        return fmt::format("compute capability {} has no FP16 arithmetic", to_text(target.cc));
    return {};
}

// GPUs: many threads hide latency, and a long body hides the loop's own instructions (512 of 16 bytes stay within the
// smallest instruction cache next to the schedulers, 12 KiB). CPUs: one work-item a core, and as many chains as two
// pipes of four cycles need and sixteen registers hold.
Shape arithmetic_shape(const Target& target, int chains) {
    if (target.cpu) return {1, 8, chains > 0 ? chains : 12, 0};
    const int used = chains > 0 ? chains : 8;
    return {256, std::max(2, 512 / used / 2 * 2), used, 0};
}

KernelSource arithmetic_source(const Target& target, ProbeAction action, Pipe pipe, const Shape& shape) {
    Text text(target.dialect, shape);
    text.define(type_define(pipe));
    text.define(action == ProbeAction::fma ? "STEP_FMA" : action == ProbeAction::add ? "STEP_ADD" : "STEP_MULTIPLY");
    text.define_width("VEC_WORDS", target.vec_words);
    if (target.dialect == Dialect::opencl) text.define_width("LANES", lanes(target, pipe));
    return text.finish({"arithmetic"}, "arithmetic");
}

KernelSource memory_source(const Target& target, const MemoryKernel& kernel, const Shape& shape) {
    Text text = memory_text(target, shape);
    if (kernel.near) text.define("CACHE_NEAR");
    switch (kernel.action) {
        case ProbeAction::store:
            text.define("ACTION_STORE");
            return text.finish({"memory"}, "store");
        case ProbeAction::copy:
            text.define("ACTION_COPY");
            return text.finish({"memory"}, "copy");
        case ProbeAction::triad:
            text.define("ACTION_TRIAD");
            text.define(type_define(kernel.pipe));
            if (target.dialect == Dialect::opencl) text.define_width("LANES", 1);
            return text.finish({"memory"}, "triad");
        default:
            text.define("ACTION_LOAD");
            return text.finish({"memory"}, "load");
    }
}

KernelSource shared_load_source(const Target& target, const Shape& shape) {
    Text text = memory_text(target, shape);
    text.define("ACTION_SHARED");
    text.define("SET_VECS", shape.set_bytes / (4 * target.vec_words));
    return text.finish({"memory"}, "shared_load");
}

KernelSource fill_source(const Target& target, std::optional<Pipe> numbers, const Shape& shape) {
    Text text = memory_text(target, shape);
    text.define(numbers ? "ACTION_FILL_NUMBERS" : "ACTION_FILL");
    if (numbers) text.define(type_define(*numbers));
    if (numbers && target.dialect == Dialect::opencl) text.define_width("LANES", 1);
    return text.finish({"memory"}, numbers ? "fill_numbers" : "fill");
}

KernelSource chase_source(const Target& target, Level level, const Shape& shape) {
    Text text = memory_text(target, shape);
    if (level == Level::shared) {
        text.define("ACTION_SHARED_CHASE");
        text.define("SET_WORDS", shape.set_bytes / 4);
        text.define("LINK_WORDS", kLinkWords);
        return text.finish({"latency"}, "shared_chase");
    }
    text.define("ACTION_CHASE");
    if (level == Level::l1) text.define("CACHE_NEAR");
    return text.finish({"latency"}, "chase");
}

KernelSource empty_source(const Target& target, const Shape& shape) {
    Text text = memory_text(target, shape);
    text.define("ACTION_EMPTY");
    return text.finish({"latency"}, "nothing");
}

KernelSource tensor_source(const TensorKernel& kernel, bool random) {
    Text text(Dialect::cuda, {kernel.threads, kernel.unroll, kernel.chains, 0});
    text.define(kernel.define);
    text.define(kernel.operand);
    if (random) text.define("RANDOM_OPERANDS");
    if (kernel.define.find("ACC16") != std::string_view::npos) text.define("NARROW_ACCUMULATOR");
    switch (kernel.path) {
        case MatrixPath::warpgroup:
            return text.finish({"tensor_operands", "tensor_wgmma"}, "tensor_wgmma");
        case MatrixPath::tensor_memory:
            return text.finish({"tensor_operands", "tensor_tcgen05"}, "tensor_tcgen05");
        default:
            return text.finish({"tensor_operands", "tensor_mma"}, "tensor_mma");
    }
}

KernelSource matrix_fill_source(std::string_view operand, const Shape& shape) {
    Text text(Dialect::cuda, shape);
    text.define(operand);
    return text.finish({"tensor_operands", "matrix_fill"}, "matrix_fill");
}

}  // namespace gambrel::measure_detail
