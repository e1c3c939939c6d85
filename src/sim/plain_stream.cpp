#include "sim/plain_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/arithmetic.hpp"
#include "sim/store_request.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr RequestShape kAlongSide{32, 1};
constexpr RequestShape kOneTap{1, 1};

}  // namespace

DepthwiseStream::DepthwiseStream(Operands operands, Pass pass, const Mapping& mapping)
    : operands_(std::move(operands)),
      pass_(pass),
      action_a_(load_action(mapping.a)),
      action_b_(load_action(mapping.b)),
      threads_(std::max(32, mapping.threads)) {
    const GemmView& view = operands_.view;
    const std::int64_t pixels = pass == Pass::wgrad ? view.k : view.m;
    tiles_ = ceil_div(pixels, threads_);
    steps_ = pass == Pass::wgrad ? tiles_ : view.k;
    ctas_ = pass == Pass::wgrad ? view.batch : tiles_ * view.batch;
}

void DepthwiseStream::open(std::int64_t cta, CtaState& state) const {
    state.cta = cta;
    if (pass_ == Pass::wgrad) {
        state.batch = cta;
        return;
    }
    // Channels one after the other within a stretch of pixels, as the pixels of NHWC lie; of NCHW the other way round.
    state.batch = cta / tiles_;
    state.rows.assign(operands_.a.side, cta % tiles_ * threads_, threads_);
    state.columns.assign(operands_.b.side, 0, operands_.view.n);
}

void DepthwiseStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    if (pass_ != Pass::wgrad) {
        state.depth.assign(operands_.a.depth, step, 1);
        append_requests(operands_.a, state.batch, state.rows, state.depth, kAlongSide, action_a_, out);
        state.depth.assign(operands_.b.depth, step, 1);
        append_requests(operands_.b, state.batch, state.columns, state.depth, kOneTap, action_b_, out);
        return;
    }
    // Pixels are the depth here: a warp takes 32 of them, of the gradient once and of the input once for each tap.
    const auto load = [&](const AddressedOperand& operand, Action action) {
        state.rows.assign(operand.side, 0, operand.side.size());
        state.depth.assign(operand.depth, step * threads_, threads_);
        append_requests(operand, state.batch, state.rows, state.depth, {1, 32}, action, out);
    };
    load(operands_.a, action_a_);
    load(operands_.b, action_b_);
}

void DepthwiseStream::close(CtaState& state, std::vector<Access>& out) const {
    const bool wgrad = pass_ == Pass::wgrad;
    state.rows.assign(operands_.c.side, wgrad ? 0 : state.cta % tiles_ * threads_,
                      wgrad ? operands_.c.side.size() : threads_);
    state.columns.assign(operands_.c.depth, 0, operands_.view.n);
    if (operands_.bias) {
        // The channel's own number, for each warp.
        Stretch one;
        one.assign(operands_.bias->side, 0, 1);
        state.depth.assign(operands_.bias->depth, 0, 1);
        for (std::size_t first = 0; first < state.rows.points.size(); first += 32)
            append_requests(*operands_.bias, state.batch, one, state.depth, kOneTap, Action::read, out);
    }
    append_requests(operands_.c, state.batch, state.rows, state.columns, wgrad ? RequestShape{1, 32} : kAlongSide,
                    Action::write, out);
    for (const AddressedOperand& zeros : operands_.zeros) {
        const std::int64_t tile = state.cta % tiles_, first = tile * threads_;
        state.rows.assign(zeros.side, first, tile + 1 == tiles_ ? zeros.side.size() - first : threads_);
        append_requests(zeros, state.batch, state.rows, state.columns, kAlongSide, Action::write, out);
    }
}

PlainStream::PlainStream(std::vector<Part> read, Part written, const Mapping& mapping)
    : read_(std::move(read)), written_(written), action_(load_action(mapping.a)) {
    // 16 bytes a thread, as vectorised kernels do.
    std::uint64_t largest = written_.bytes;
    for (const Part& part : read_) largest = std::max(largest, part.bytes);
    ctas_ =
        std::max<std::int64_t>(1, ceil_div(static_cast<std::int64_t>(largest), 16LL * std::max(32, mapping.threads)));
}

std::unique_ptr<AddressStream> plain_stream(const Layer& layer, const Mapping& mapping) {
    const OperandBytes compulsory = compulsory_bytes(layer);
    const auto bytes = [](Bytes amount) { return static_cast<std::uint64_t>(std::llround(amount.value())); };
    std::vector<PlainStream::Part> read;
    PlainStream::Part written{};
    if (layer.pass == Pass::fwd) {
        // Tensors that are read lie one after the other; each begins at a line.
        std::uint64_t address = base_address(Tensor::input);
        const auto add = [&](Bytes amount) {
            const std::uint64_t size = bytes(amount);
            if (size > 0) read.push_back({address, size});
            address += (size / 128 + 1) * 128;
        };
        if (const auto* streaming = std::get_if<Streaming>(&layer.op))
            for (const double elements : streaming->read) add(elements * element_size(layer.precision));
        else
            add(compulsory.input);
        written = {base_address(Tensor::output), bytes(compulsory.output)};
    } else {
        // Backward: what compulsory_bytes() says is read, and the gradient of what forward read is written.
        const std::uint64_t parameters = bytes(compulsory.filter), all = bytes(compulsory.read);
        if (all > parameters) read.push_back({base_address(Tensor::output), all - parameters});
        written = {base_address(Tensor::input), bytes(compulsory.written)};
    }
    if (compulsory.filter.value() > 0) read.push_back({base_address(Tensor::filter), bytes(compulsory.filter)});
    return std::make_unique<PlainStream>(std::move(read), written, mapping);
}

void PlainStream::append(const Part& part, std::int64_t cta, Action action, std::vector<Access>& out) const {
    // Shares end at sectors, so that no two CTAs touch one sector.
    const std::uint64_t sectors = (part.bytes + 31) / 32, count = static_cast<std::uint64_t>(ctas_);
    const std::uint64_t first = sectors * static_cast<std::uint64_t>(cta) / count;
    const std::uint64_t end = sectors * static_cast<std::uint64_t>(cta + 1) / count;
    if (first == end) return;
    if (action == Action::write) {
        StoreRequest store(out);
        store.add_bytes(part.address + first * 32, part.address + std::min(end * 32, part.bytes) - 1);
        store.finish();
        return;
    }
    const std::uint64_t base = part.address >> kSectorShift;
    for (std::uint64_t sector = base + first; sector < base + end;) {
        const std::uint64_t line = sector / kSectorsPerLine;
        const std::uint64_t stop = std::min(base + end, (line + 1) * kSectorsPerLine);
        const auto low = static_cast<unsigned>(sector % kSectorsPerLine);
        out.emplace_back(line, (1U << static_cast<unsigned>(stop - line * kSectorsPerLine)) - (1U << low), action);
        sector = stop;
    }
}

void PlainStream::step(CtaState& state, std::int64_t, std::vector<Access>& out) const {
    for (const Part& part : read_) append(part, state.cta, action_, out);
}

void PlainStream::close(CtaState& state, std::vector<Access>& out) const {
    append(written_, state.cta, Action::write, out);
}

}  // namespace gambrel::sim_detail
