// Streams of kernels that have no tiles: depthwise convolutions, one thread an output, and layers that stream tensors
// once.
#pragma once

#include "sim/operands.hpp"
#include "sim/stream.hpp"
#include "sim/tile_patterns.hpp"

namespace gambrel::sim_detail {

// Forward and dgrad: a CTA makes `threads` consecutive pixels of one image and channel, tap by tap. wgrad: a CTA makes
// the taps of one channel, and walks over all its pixels, `threads` at a time.
class DepthwiseStream final : public AddressStream {
public:
    DepthwiseStream(Operands operands, Pass pass, const Mapping& mapping);
    [[nodiscard]] std::int64_t ctas() const override { return ctas_; }
    [[nodiscard]] std::int64_t steps(std::int64_t) const override { return steps_; }
    void open(std::int64_t cta, CtaState& state) const override;
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    // An operand as CTAs ask for it: so much of its side and depth in a step, in requests of this shape.
    struct Part {
        const AddressedOperand* operand = nullptr;
        std::int64_t tile = 1, step = 1;
        RequestShape shape = {};
        Action action = Action::read;
        TilePatterns patterns = {};
    };
    [[nodiscard]] Part part(const AddressedOperand& operand, std::int64_t tile, std::int64_t step, RequestShape shape,
                            Action action) const;
    void append(const Part& part, CtaState& state, std::int64_t tile, std::int64_t step,
                std::vector<Access>& out) const;

    Operands operands_;
    Pass pass_;
    Action action_a_, action_b_;
    std::int64_t threads_, tiles_, steps_, ctas_;
    Part a_, b_, c_;
};

// Each CTA has its share of every tensor: 16 bytes a thread of the largest, and as large a part of the others.
class PlainStream final : public AddressStream {
public:
    struct Part {
        std::uint64_t address, bytes;
    };
    PlainStream(std::vector<Part> read, Part written, const Mapping& mapping);
    [[nodiscard]] std::int64_t ctas() const override { return ctas_; }
    [[nodiscard]] std::int64_t steps(std::int64_t) const override { return 1; }
    void open(std::int64_t cta, CtaState& state) const override { state.cta = cta; }
    void step(CtaState& state, std::int64_t step, std::vector<Access>& out) const override;
    void close(CtaState& state, std::vector<Access>& out) const override;
    [[nodiscard]] double shared_memory_bytes(std::int64_t) const override { return 0; }

private:
    void append(const Part& part, std::int64_t cta, Action action, std::vector<Access>& out) const;

    std::vector<Part> read_;
    Part written_;
    std::int64_t ctas_;
    Action action_;
};
// Of a layer that reads and writes its compulsory bytes.
std::unique_ptr<AddressStream> plain_stream(const Layer& layer, const Mapping& mapping);

}  // namespace gambrel::sim_detail
