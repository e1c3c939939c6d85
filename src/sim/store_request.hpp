// The bytes that one instruction of a warp stores, collected as accesses: all sectors of a line that are written whole
// in one access, every sector that is written in part in one of its own. Memory with ECC must know (l2_slice.hpp).
// Bytes are counted in pairs: a store of a single byte counts as two.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/access.hpp"

namespace gambrel::sim_detail {

class StoreRequest {
public:
    explicit StoreRequest(std::vector<Access>& out) : out_(out), lines_(scratch()) { lines_.clear(); }

    // From one byte to another, both included.
    void add_bytes(std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t line = first >> kLineShift; line <= last >> kLineShift; ++line) {
            const std::uint64_t base = line << kLineShift, end = base + (1U << kLineShift) - 1;
            const std::uint64_t from = (std::max(first, base) - base) / 2, to = (std::min(last, end) - base) / 2;
            add_pairs(line, ~std::uint64_t{0} >> (63 - to) & ~std::uint64_t{0} << from);
        }
    }
    // `count` elements of `element` from `base` + `begin` on, in steps of `step`, all but `base` in sixteenths of a
    // byte.
    void add_progression(std::uint64_t base, std::int64_t begin, std::int64_t count, std::int64_t step,
                         std::int64_t element) {
        const auto byte = [&](std::int64_t at) { return base + static_cast<std::uint64_t>(at / 16); };
        if (step == element || count == 1) {
            add_bytes(byte(begin), byte(begin + count * element - 1));
            return;
        }
        for (std::int64_t i = 0; i < count; ++i)
            add_bytes(byte(begin + i * step), byte(begin + i * step + element - 1));
    }
    // Appends what was collected.
    void finish() {
        for (const Line& of : lines_) {
            const unsigned whole = sectors_of(~touched(~of.pairs)), part = sectors_of(touched(of.pairs)) & ~whole;
            if (whole != 0) out_.emplace_back(of.line, whole, Action::write);
            for (unsigned rest = part; rest != 0; rest &= rest - 1) {
                const auto sector = static_cast<unsigned>(std::countr_zero(rest));
                out_.push_back(
                    Access::part(of.line, sector, static_cast<std::uint16_t>(of.pairs >> kPairsPerSector * sector)));
            }
        }
    }

private:
    static constexpr unsigned kPairsPerSector = 16;
    struct Line {
        std::uint64_t line, pairs;
    };
    // The lowest of the 16 bits of each sector: one if any of them is. The other bits mean nothing.
    static constexpr std::uint64_t touched(std::uint64_t pairs) {
        pairs |= pairs >> 8U;
        pairs |= pairs >> 4U;
        pairs |= pairs >> 2U;
        return pairs | pairs >> 1U;
    }
    // Bits 0, 16, 32 and 48 as a mask of four.
    static constexpr unsigned sectors_of(std::uint64_t lowest) {
        constexpr std::uint64_t kLowest = 0x0001'0001'0001'0001, kGather = 0x0001'0002'0004'0008;
        return static_cast<unsigned>((lowest & kLowest) * kGather >> 48U & kAllSectors);
    }
    // A warp makes millions of them, one after the other.
    static std::vector<Line>& scratch() {
        thread_local std::vector<Line> lines;
        return lines;
    }
    void add_pairs(std::uint64_t line, std::uint64_t pairs) {
        // Mostly lines come in rising order, and one above all others is new.
        if (line + 1 > above_) {
            above_ = line + 1;
        } else {
            for (auto of = lines_.rbegin(); of != lines_.rend(); ++of) {
                if (of->line != line) continue;
                of->pairs |= pairs;
                return;
            }
        }
        lines_.push_back({line, pairs});
    }

    std::vector<Access>& out_;
    std::vector<Line>& lines_;
    std::uint64_t above_ = 0;  // the highest line and one
};

}  // namespace gambrel::sim_detail
