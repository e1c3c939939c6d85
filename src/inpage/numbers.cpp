// Layers and machines as plain numbers. One list of fields for both directions, so that they cannot differ.
#include <cmath>
#include <limits>
#include <type_traits>

#include <gambrel/inpage.hpp>

namespace gambrel {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr double kLongestText = 4096;

class NumberWriter {
public:
    explicit NumberWriter(std::vector<double>& out) : out_(out) {}
    static constexpr bool reads = false;
    void number(double& value) { out_.push_back(value); }
    void fail() {}

private:
    std::vector<double>& out_;
};

class NumberReader {
public:
    explicit NumberReader(std::span<const double> in) : in_(in) {}
    static constexpr bool reads = true;
    void number(double& value) {
        value = at_ < in_.size() ? in_[at_] : kAbsent;
        at_ += 1;
    }
    void fail() { failed_ = true; }
    [[nodiscard]] bool complete() const { return !failed_ && at_ == in_.size(); }

private:
    std::span<const double> in_;
    std::size_t at_ = 0;
    bool failed_ = false;
};

template <class Stream, class Number>
requires std::is_arithmetic_v<Number>
void fields(Stream& s, Number& value) {
    double number = static_cast<double>(value);
    s.number(number);
    if constexpr (!Stream::reads) return;
    if constexpr (std::is_floating_point_v<Number>) {
        value = number;
    } else if (std::abs(number) <= 9007199254740992.0 && number == std::floor(number)) {
        value = static_cast<Number>(number);
    } else {
        s.fail();
    }
}
template <class Stream, class Enum>
requires std::is_enum_v<Enum>
void word(Stream& s, Enum& value, std::size_t count) {
    double number = static_cast<double>(value);
    s.number(number);
    if constexpr (!Stream::reads) return;
    if (number >= 0 && number < static_cast<double>(count) && number == std::floor(number))
        value = static_cast<Enum>(static_cast<std::uint8_t>(number));
    else
        s.fail();
}
template <class Stream>
void fields(Stream& s, Precision& value) {
    word(s, value, kPrecisions);
}
template <class Stream>
void fields(Stream& s, Timing& value) {
    word(s, value, 5);
}
template <class Stream>
void fields(Stream& s, BiasKernel& value) {
    word(s, value, 3);
}
template <class Stream>
void fields(Stream& s, InputScales& value) {
    word(s, value, 3);
}
template <class Stream>
void fields(Stream& s, Pass& value) {
    word(s, value, 3);
}
template <class Stream>
void fields(Stream& s, Phase& value) {
    word(s, value, 3);
}
template <class Stream>
void fields(Stream& s, Layout& value) {
    word(s, value, 2);
}
template <class Stream, class Q>
requires requires(Q q) { Q{q.value()}; }
void fields(Stream& s, Q& quantity) {
    double number = quantity.value();
    s.number(number);
    if constexpr (Stream::reads) quantity = Q{number};
}
template <class Stream>
void fields(Stream& s, std::string& text) {
    double size = static_cast<double>(text.size());
    s.number(size);
    if constexpr (Stream::reads) {
        if (!(size >= 0 && size <= kLongestText)) return s.fail();
        text.resize(static_cast<std::size_t>(size));
    }
    for (char& c : text) {
        double code = static_cast<unsigned char>(c);
        s.number(code);
        if constexpr (Stream::reads)
            c = static_cast<char>(static_cast<unsigned char>(code >= 0 && code < 256 ? code : 63));
    }
}
// Absent values are one NaN; of present ones the first number says that they are there.
template <class Stream, class T>
void fields(Stream& s, std::optional<T>& value) {
    double there = value ? 1 : kAbsent;
    s.number(there);
    if constexpr (Stream::reads) {
        value.reset();
        if (there == 1) value.emplace();
    }
    if (value) fields(s, *value);
}
template <class Stream, class T>
void fields(Stream& s, Sourced<T>& sourced) {
    fields(s, sourced.value);
}
template <class Stream, class T>
void fields(Stream& s, AtClock<T>& ceiling) {
    fields(s, ceiling.ceiling), fields(s, ceiling.clock);
}
template <class Stream, class... Rest>
void all(Stream& s, Rest&... rest) {
    (fields(s, rest), ...);
}

template <class Stream>
void fields(Stream& s, Convolution& v) {
    all(s, v.n, v.c, v.h, v.w, v.k, v.r, v.s, v.pad_top, v.pad_bottom, v.pad_left, v.pad_right);
    all(s, v.stride_h, v.stride_w, v.dilation_h, v.dilation_w, v.groups);
}
template <class Stream>
void fields(Stream& s, Gemm& g) {
    all(s, g.m, g.n, g.k, g.batch, g.a_transposed, g.b_transposed, g.a_shared, g.b_shared);
}
template <class Stream>
void fields(Stream& s, Streaming& v) {
    word(s, v.kind, kStreamingKinds);
    for (double& read : v.read) fields(s, read);
    all(s, v.parameters, v.written, v.window, v.rows, v.table_rows, v.written_as, v.read_again, v.rows_per_sm,
        v.threads_per_sm);
    all(s, v.spilled, v.row_step, v.row_waits, v.column_step, v.lone_waits, v.atomics, v.atomics_ordered);
}
template <class Stream>
void fields(Stream& s, Attention& a) {
    all(s, a.batch, a.q_len, a.kv_len, a.heads, a.kv_heads, a.head_dim, a.head_dim_v, a.causal, a.window);
    all(s, a.latent, a.paged, a.kv_precision, a.decode_batch, a.decode_kv_len);
}
template <class Stream>
void fields(Stream& s, MixtureOfExperts& m) {
    all(s, m.tokens, m.hidden, m.intermediate, m.experts, m.topk, m.tensor_parallel, m.expert_parallel);
    all(s, m.gated, m.imbalance, m.busiest_gpu);
}
template <class Stream>
void fields(Stream& s, AllReduce& r) {
    all(s, r.elements, r.ranks);
}
template <class Stream>
void fields(Stream& s, Hints& h) {
    // By position: a hint that is added later does not compile until it is passed on to the page, too.
    [[maybe_unused]] auto& [algorithm, kernel, gpu, algorithm_found, tile_m, tile_n, tile_k, split_k, kernels, sm_clock,
                            math, tensor_core, timing, fma, workspace, overwrites, cold, profiled, base_clock,
                            other_layout, any_layout, bias_kernel, adds_up_parts, quantizes_input, host, host_ahead] =
        h;
    all(s, algorithm, kernel, algorithm_found, tile_m, tile_n, tile_k, split_k, kernels, sm_clock, math, tensor_core,
        timing, fma);
    all(s, workspace, overwrites, cold, profiled, base_clock, other_layout, any_layout, bias_kernel, adds_up_parts);
    all(s, quantizes_input, host, host_ahead);
}
template <class Stream>
void layer_fields(Stream& s, Layer& layer) {
    double kind = static_cast<double>(layer.op.index());
    s.number(kind);
    if constexpr (Stream::reads) {
        if (kind == 0)
            layer.op = Convolution{};
        else if (kind == 1)
            layer.op = Gemm{};
        else if (kind == 2)
            layer.op = Streaming{};
        else if (kind == 3)
            layer.op = Attention{};
        else if (kind == 4)
            layer.op = MixtureOfExperts{};
        else if (kind == 5)
            layer.op = AllReduce{};
        else
            return s.fail();
    }
    std::visit([&](auto& op) { fields(s, op); }, layer.op);
    all(s, layer.pass, layer.precision, layer.weights, layer.layout);
    all(s, layer.repeat, layer.input_is_trained, layer.has_filter, layer.bias);
    fields(s, layer.hints);
}

template <class Stream>
void recipe_fields(Stream& s, NetworkRecipe& r) {
    all(s, r.name, r.batch, r.sequence, r.context, r.tensor_parallel, r.precision, r.kv_precision);
    all(s, r.layout, r.pass, r.phase, r.training, r.fused, r.in_order, r.fastest_algorithm);
}

template <class Stream>
void machine_fields(Stream& s, Machine& m) {
    fields(s, m.id);  // by its words the model knows the links of a board
    double major = kAbsent, minor = kAbsent;
    if (m.compute_capability) major = m.compute_capability->major, minor = m.compute_capability->minor;
    s.number(major), s.number(minor);
    if constexpr (Stream::reads)
        if (major >= 0 && major < 1000 && minor >= 0 && minor < 1000)
            m.compute_capability = ComputeCapability{static_cast<int>(major), static_cast<int>(minor)};
    word(s, m.made_from, 5);
    all(s, m.clocks.base, m.clocks.boost, m.clocks.memory, m.board_power, m.sm.sms, m.sm.schedulers, m.sm.max_warps);
    all(s, m.sm.max_ctas, m.sm.registers, m.sm.shared_memory, m.sm.shared_memory_per_cta, m.sm.sector, m.sm.line);
    for (Arithmetic& a : m.pipes) all(s, a.dense, a.stated, a.measured);
    double launch = m.launch ? m.launch->value.value() : kAbsent;
    s.number(launch);
    if constexpr (Stream::reads)
        if (launch >= 0) m.launch = Sourced<Seconds>{Seconds{launch}, Origin::assumed, {}};
    double levels = static_cast<double>(m.levels.size());
    s.number(levels);
    if constexpr (Stream::reads) {
        if (!(levels >= 0 && levels <= static_cast<double>(kLevels))) return s.fail();
        m.levels.resize(static_cast<std::size_t>(levels));
    }
    for (MemoryLevel& l : m.levels) {
        word(s, l.level, kLevels);
        all(s, l.per_sm, l.capacity, l.width, l.bandwidth, l.partitions, l.inline_ecc, l.ecc_block, l.latency,
            l.measured);
    }
}

}  // namespace

std::vector<double> numbers_of(const Layer& layer) {
    std::vector<double> out;
    NumberWriter writer(out);
    Layer copy = layer;
    layer_fields(writer, copy);
    return out;
}

std::vector<double> numbers_of(const Machine& machine) {
    std::vector<double> out;
    NumberWriter writer(out);
    Machine copy = machine;
    machine_fields(writer, copy);
    return out;
}

std::vector<double> numbers_of(const NetworkRecipe& recipe) {
    std::vector<double> out;
    NumberWriter writer(out);
    NetworkRecipe copy = recipe;
    recipe_fields(writer, copy);
    return out;
}

std::optional<NetworkRecipe> recipe_from_numbers(std::span<const double> numbers) {
    NumberReader reader(numbers);
    NetworkRecipe recipe;
    recipe_fields(reader, recipe);
    if (!reader.complete()) return std::nullopt;
    return recipe;
}

std::optional<Layer> layer_from_numbers(std::span<const double> numbers) {
    NumberReader reader(numbers);
    Layer layer;
    layer_fields(reader, layer);
    if (!reader.complete()) return std::nullopt;
    return layer;
}

std::optional<Machine> machine_from_numbers(std::span<const double> numbers) {
    NumberReader reader(numbers);
    Machine machine;
    machine_fields(reader, machine);
    if (!reader.complete()) return std::nullopt;
    return machine;
}

}  // namespace gambrel
