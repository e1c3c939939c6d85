#include "sim/plain_stream.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/arithmetic.hpp"
#include "sim/store_request.hpp"

namespace gambrel::sim_detail {
namespace {

constexpr RequestShape kAlongSide{32, 1};
constexpr RequestShape kAlongDepth{1, 32};
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
    const auto all = [](const Index& index) { return std::max<std::int64_t>(1, index.size()); };
    const Operands& o = operands_;
    if (pass == Pass::wgrad) {
        // Pixels are the depth here: a warp takes 32 of them, of the gradient once and of the input once for each tap.
        a_ = part(o.a, all(o.a.side), threads_, kAlongDepth, action_a_);
        b_ = part(o.b, all(o.b.side), threads_, kAlongDepth, action_b_);
        c_ = part(o.c, all(o.c.side), view.n, kAlongDepth, Action::write);
    } else {
        a_ = part(o.a, threads_, 1, kAlongSide, action_a_);
        b_ = part(o.b, view.n, 1, kOneTap, action_b_);
        c_ = part(o.c, threads_, view.n, kAlongSide, Action::write);
    }
}

DepthwiseStream::Part DepthwiseStream::part(const AddressedOperand& operand, std::int64_t tile, std::int64_t step,
                                            RequestShape shape, Action action) const {
    Part made{&operand, tile, step, shape, action, {}};
    TilePatterns patterns;
    CtaState state;
    const std::int64_t users =
        std::max<std::int64_t>(1, ctas_ * tile / std::max<std::int64_t>(1, operand.side.size() * operands_.view.batch));
    patterns.fill(TilePatterns::shape_of(operand, operands_.view.batch, tile, step, users),
                  [&](std::int64_t batch, std::int64_t at, std::int64_t in_depth, std::vector<Access>& out) {
                      state.batch = batch;
                      append(made, state, at, in_depth, out);
                      return Movable::anywhere;
                  });
    made.patterns = std::move(patterns);
    return made;
}

// Of the batch that the state has.
void DepthwiseStream::append(const Part& part, CtaState& state, std::int64_t tile, std::int64_t step,
                             std::vector<Access>& out) const {
    if (part.patterns.append(state.batch, tile, step, out, [](auto) { return true; })) return;
    state.rows.assign(part.operand->side, tile * part.tile, part.tile);
    state.depth.assign(part.operand->depth, step * part.step, part.step);
    append_requests(*part.operand, state.batch, state.rows, state.depth, part.shape, part.action, out);
}

void DepthwiseStream::open(std::int64_t cta, CtaState& state) const {
    state.cta = cta;
    if (pass_ == Pass::wgrad) {
        state.batch = cta;
        return;
    }
    // Channels one after the other within a stretch of pixels, as the pixels of NHWC lie; of NCHW the other way round.
    state.batch = cta / tiles_;
}

void DepthwiseStream::step(CtaState& state, std::int64_t step, std::vector<Access>& out) const {
    const std::int64_t tile = pass_ == Pass::wgrad ? 0 : state.cta % tiles_;
    append(a_, state, tile, step, out);
    append(b_, state, 0, step, out);
}

void DepthwiseStream::close(CtaState& state, std::vector<Access>& out) const {
    const std::int64_t tile = pass_ == Pass::wgrad ? 0 : state.cta % tiles_, first = tile * threads_;
    if (operands_.bias) {
        // The channel's own number, for each warp.
        Stretch one;
        one.assign(operands_.bias->side, 0, 1);
        state.depth.assign(operands_.bias->depth, 0, 1);
        const std::int64_t rows = operands_.c.side.size();
        const std::int64_t threads = pass_ == Pass::wgrad ? rows : std::min(threads_, rows - first);
        for (std::int64_t warp = 0; warp < ceil_div(threads, 32); ++warp)
            append_requests(*operands_.bias, state.batch, one, state.depth, kOneTap, Action::read, out);
    }
    append(c_, state, tile, 0, out);
    for (const AddressedOperand& zeros : operands_.zeros) {
        state.rows.assign(zeros.side, first, tile + 1 == tiles_ ? zeros.side.size() - first : threads_);
        state.columns.assign(zeros.depth, 0, operands_.view.n);
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
