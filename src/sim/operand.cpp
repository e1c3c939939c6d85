#include "sim/operand.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "sim/store_request.hpp"

namespace gambrel::sim_detail {
namespace {

// Collects the lines that one warp instruction loads, or adds to, at the end of `out`.
class Request {
public:
    Request(std::vector<Access>& out, Action action) : out_(out), begin_(out.size()), action_(action) {}

    void add_bytes(std::uint64_t first, std::uint64_t last) {
        std::uint64_t line = first >> kLineShift;
        const std::uint64_t last_line = last >> kLineShift;
        unsigned from = 1U << (first >> kSectorShift) % kSectorsPerLine;
        for (; line < last_line; ++line, from = 1) add_line(line, kAllSectors + 1 - from);
        add_line(line, (2U << (last >> kSectorShift) % kSectorsPerLine) - from);
    }
    // Where it begins after `base`, its step and its element, in sixteenths of a byte.
    void add_progression(std::uint64_t base, std::int64_t begin, std::int64_t count, std::int64_t step,
                         std::int64_t element) {
        // Unsigned, because a division of signed numbers that rounds towards zero takes four instructions.
        const auto bytes = [](std::int64_t sixteenths) { return static_cast<std::uint64_t>(sixteenths) / kSixteenths; };
        const std::int64_t last = begin + (count - 1) * step;
        if (std::abs(step) <= kSixteenths << kSectorShift || count == 1) {
            // No sector between the ends is stepped over.
            add_bytes(base + bytes(std::min(begin, last)), base + bytes(std::max(begin, last) + element - 1));
            return;
        }
        for (std::int64_t i = 0; i < count; ++i)
            add_bytes(base + bytes(begin + i * step), base + bytes(begin + i * step + element - 1));
    }

    void finish() {}

private:
    void add_line(std::uint64_t line, unsigned sectors) {
        // Mostly lines come in rising order, and one above all others is new.
        if (line + 1 > above_) {
            above_ = line + 1;
        } else {
            for (std::size_t i = out_.size(); i > begin_; --i) {
                if (out_[i - 1].line() == line) {
                    out_[i - 1].add_sectors(sectors);
                    return;
                }
            }
        }
        out_.emplace_back(line, sectors, action_);
    }

    std::vector<Access>& out_;
    std::size_t begin_;
    std::uint64_t above_ = 0;  // the highest line and one
    Action action_;
};

// The parts of runs inside [first, end), which begins no earlier than it did the time before: runs that end before
// `first` are dropped.
void clip(std::span<const AddressRun>& runs, std::int32_t first, std::int32_t end, std::vector<AddressRun>& pieces) {
    pieces.clear();
    while (!runs.empty() && runs.front().first + runs.front().count <= first) runs = runs.subspan(1);
    for (const AddressRun& run : runs) {
        if (run.first >= end) break;
        const std::int32_t from = std::max(run.first, first), to = std::min(run.first + run.count, end);
        const std::int32_t skip = from - run.first;
        pieces.push_back(
            {from, to - from, run.offset + skip * run.step, run.step, run.y, run.x + skip * run.x_step, run.x_step});
    }
}

// Of `count` points from x on in steps of x_step, the first and the number of those in [0, width).
struct Inside {
    std::int64_t first, count;
};
// In steps of one: without the divisions, which cost as much as all else here.
Inside inside(std::int64_t x, std::int64_t count, std::int64_t width) {
    const std::int64_t first = std::max<std::int64_t>(0, -x), end = std::min(count, width - x);
    return {first, std::max<std::int64_t>(0, end - first)};
}
Inside inside(std::int64_t x, std::int64_t x_step, std::int64_t count, std::int64_t width) {
    if (x_step == 0) return {0, x >= 0 && x < width ? count : 0};
    const bool mirrored = x_step < 0;
    if (mirrored) {
        x += x_step * (count - 1);
        x_step = -x_step;
    }
    const std::int64_t first = x >= 0 ? 0 : (-x + x_step - 1) / x_step;
    const std::int64_t end = x >= width ? 0 : std::min(count, (width - 1 - x) / x_step + 1);
    const std::int64_t some = std::max<std::int64_t>(0, end - first);
    return {mirrored ? count - first - some : first, some};
}

template <class Collected>
void add_piece(const AddressedOperand& operand, std::int64_t size, std::uint64_t base, const AddressRun& piece,
               const Point& point, Collected& request) {
    std::int64_t first = 0, count = piece.count;
    if (operand.height > 0) {
        const std::int64_t y = piece.y + point.y;
        if (y < 0 || y >= operand.height) return;
        const std::int64_t x = piece.x + point.x;
        const Inside part =
            piece.x_step == 1 ? inside(x, count, operand.width) : inside(x, piece.x_step, count, operand.width);
        first = part.first;
        count = part.count;
    }
    if (count == 0) return;
    const std::int64_t offset = piece.offset + point.offset + first * piece.step;
    request.add_progression(base, offset * size, count, piece.step * size, size);
}

}  // namespace

std::int64_t Index::size() const {
    std::int64_t size = 1;
    for (const Digit& digit : digits) size *= digit.radix;
    return size;
}

void Stretch::assign(const Index& index, std::int64_t first, std::int64_t count) {
    points.clear();
    runs.clear();
    count = std::max<std::int64_t>(0, std::min(count, index.size() - first));
    std::array<std::int64_t, 5> at{};
    Point next{index.offset, index.y, index.x};
    const auto move = [&next](const Digit& digit, std::int64_t steps) {
        next.offset += steps * digit.offset;
        next.y += narrow(steps) * digit.y;
        next.x += narrow(steps) * digit.x;
    };
    for (std::size_t d = at.size(), rest = static_cast<std::size_t>(first); d-- > 0;) {
        at[d] = static_cast<std::int64_t>(rest) % index.digits[d].radix;
        rest /= static_cast<std::size_t>(index.digits[d].radix);
        move(index.digits[d], at[d]);
    }
    const Digit& fastest = index.digits.back();
    points.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count;) {
        // As far as the fastest digit goes.
        const std::int64_t length = std::min(count - i, fastest.radix - at.back());
        for (std::int64_t end = i + length; i < end;) {
            const Point point = next;
            points[static_cast<std::size_t>(i)] = point;
            add_to_runs(narrow(i));
            ++i;
            move(fastest, 1);
            const AddressRun& run = runs.back();
            if (run.count < 2 || fastest.y != 0 || run.step != fastest.offset || run.x_step != fastest.x) continue;
            // All others of this length continue the run.
            runs.back().count += narrow(end - i);
            for (; i < end; ++i) {
                points[static_cast<std::size_t>(i)] = next;
                move(fastest, 1);
            }
        }
        move(fastest, -(at.back() + length));
        at.back() = 0;
        for (std::size_t d = at.size() - 1; d-- > 0;) {
            move(index.digits[d], 1);
            if (++at[d] < index.digits[d].radix) break;
            at[d] = 0;
            move(index.digits[d], -index.digits[d].radix);
        }
    }
}

// Point i, the next one, continues the last run or begins another.
void Stretch::add_to_runs(std::int32_t i) {
    const Point& point = points[static_cast<std::size_t>(i)];
    if (!runs.empty() && point.y == runs.back().y) {
        AddressRun& run = runs.back();
        const Point& before = points[static_cast<std::size_t>(i) - 1];
        const std::int64_t step = point.offset - before.offset;
        const std::int32_t x_step = point.x - before.x;
        if (run.count == 1 || (step == run.step && x_step == run.x_step)) {
            run.step = step;
            run.x_step = x_step;
            ++run.count;
            return;
        }
    }
    runs.push_back({i, 1, point.offset, 0, point.y, point.x, 0});
}

bool AddressedOperand::side_is_inner() const {
    const auto stride = [](const Index& index) {
        for (std::size_t d = index.digits.size(); d-- > 0;)
            if (index.digits[d].radix > 1) return std::abs(index.digits[d].offset) + std::abs(index.digits[d].x);
        return std::int64_t{0};
    };
    const std::int64_t side_stride = stride(side), depth_stride = stride(depth);
    if (side_stride == 0) return false;
    return depth_stride == 0 || side_stride <= depth_stride;
}

namespace {

// The sectors of the requests from `begin` on if they repeat the last of those in [before, begin), else 0.
std::uint64_t repeated_sectors(const std::vector<Access>& out, std::size_t before, std::size_t begin) {
    const std::size_t count = out.size() - begin;
    if (count > begin - before || count > kMostRepeated) return 0;
    std::uint64_t sectors = 0;
    for (std::size_t i = begin; i < out.size(); ++i) {
        const Access again = out[i], earlier = out[i - count];
        if (again.line() != earlier.line() || (again.sectors() & ~earlier.sectors()) != 0) return 0;
        sectors += again.count();
    }
    return sectors;
}

// Elements of `size`, from `first` bytes of the tensor on. start(): an empty request.
template <class Start>
void append_elements(const AddressedOperand& operand, std::int64_t size, std::uint64_t first, std::int64_t batch,
                     const Stretch& side, const Stretch& depth, RequestShape shape, Action action,
                     std::vector<Access>& out, Start start) {
    thread_local std::vector<AddressRun> pieces;
    const bool side_inner = operand.side_is_inner();
    const Stretch &inner = side_inner ? side : depth, &outer = side_inner ? depth : side;
    const auto inner_size = narrow(static_cast<std::int64_t>(inner.points.size()));
    const auto outer_size = narrow(static_cast<std::int64_t>(outer.points.size()));
    const std::int32_t inner_step = side_inner ? shape.side : shape.depth;
    const std::int32_t outer_step = side_inner ? shape.depth : shape.side;
    const std::uint64_t base = base_address(operand.tensor) + first +
                               static_cast<std::uint64_t>(batch * operand.batch_offset * size / kSixteenths);
    const bool repeats_hit =
        shape.repeats == Repeats::as_hits && (action == Action::read || action == Action::read_step);
    std::size_t before = out.size();  // where the last request that was kept begins
    std::uint64_t hits = 0;
    // Points that lie one behind the other are taken as a run even where the other index has shorter steps, as the taps
    // of a convolution with stride have, if a request has only one of those.
    const bool turned = inner_step == 1 && outer_step > 1;
    std::span<const AddressRun> inner_runs = inner.runs;
    for (std::int32_t i = 0; i < inner_size; i += inner_step) {
        std::span<const AddressRun> outer_runs = outer.runs;
        if (!turned) clip(inner_runs, i, std::min(inner_size, i + inner_step), pieces);
        for (std::int32_t o = 0; o < outer_size; o += outer_step) {
            const std::size_t begin = out.size();
            auto request = start();
            const std::int32_t end = std::min(outer_size, o + outer_step);
            if (turned) clip(outer_runs, o, end, pieces);
            for (std::int32_t p = turned ? i : o, last = turned ? i + 1 : end; p < last; ++p) {
                const Point& point = (turned ? inner : outer).points[static_cast<std::size_t>(p)];
                for (const AddressRun& piece : pieces) add_piece(operand, size, base, piece, point, request);
            }
            request.finish();
            if (!repeats_hit || out.size() == begin) continue;
            if (const std::uint64_t again = repeated_sectors(out, before, begin); again > 0) {
                hits += again;
                out.resize(begin);
            } else {
                before = begin;
            }
        }
    }
    if (hits > 0) out.push_back(Access::hits(operand.tensor, hits));
}

}  // namespace

void append_requests(const AddressedOperand& operand, std::int64_t batch, const Stretch& side, const Stretch& depth,
                     RequestShape shape, Action action, std::vector<Access>& out) {
    const auto append = [&](std::int64_t size, std::uint64_t first) {
        if (action == Action::write)
            append_elements(operand, size, first, batch, side, depth, shape, action, out,
                            [&] { return StoreRequest(out); });
        else
            append_elements(operand, size, first, batch, side, depth, shape, action, out,
                            [&] { return Request(out, action); });
    };
    append(operand.element.data, 0);
    constexpr std::uint64_t kScales = std::uint64_t{1} << (kTensorShift - 1);  // half of the tensor's addresses
    if (operand.element.scale != 0) append(operand.element.scale, kScales);
}

}  // namespace gambrel::sim_detail
