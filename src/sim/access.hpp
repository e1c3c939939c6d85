// One line of memory as a warp's request or a cache's miss touches it: line number, sectors, what is done. Packed into
// 64 bits, because a layer makes a thousand million of them. Invariant: tensors never share a line: each has its own
// region.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace gambrel::sim_detail {

inline constexpr unsigned kLineShift = 7;    // 128-byte lines ...
inline constexpr unsigned kSectorShift = 5;  // ... of four 32-byte sectors, on every GPU since Maxwell
inline constexpr unsigned kSectorsPerLine = 4;
inline constexpr unsigned kAllSectors = 0xF;

// Of a mask of four. A table, because the portable instruction set has no popcount and a call costs as much as a hit in
// L1.
inline constexpr std::array<std::uint8_t, kAllSectors + 1> kSectorCounts = {0, 1, 1, 2, 1, 2, 2, 3,
                                                                            1, 2, 2, 3, 2, 3, 3, 4};
constexpr unsigned sector_count(unsigned sectors) { return kSectorCounts[sectors]; }

// read_step: L1 merges what the requests of one step have in common and keeps nothing for the next one. read_merged:
// the same where the requests of a step were merged before, so that no sector comes twice; what they had in common is
// hits. Of a group of lines (line_groups.hpp) read_group and merged_group are what read and read_merged are of a line.
// read_member: of one line of a group, where L1 lacks some of them.
// write_part: of one sector, some bytes only.
enum class Action : std::uint8_t {
    read,
    read_step,
    read_merged,
    read_group,
    merged_group,
    read_member,
    hits,
    write,
    write_part,
    atomic
};
constexpr bool is_store(Action action) { return action >= Action::write; }
// check_bits: of ECC, where they lie in the same memory.
enum class Tensor : std::uint8_t { input, filter, output, workspace, bias, check_bits };
inline constexpr unsigned kTensors = 6;

inline constexpr unsigned kTensorShift = 42;  // of a byte address: 4 TB for each tensor
constexpr std::uint64_t base_address(Tensor tensor) { return static_cast<std::uint64_t>(tensor) << kTensorShift; }

class Access {
public:
    constexpr Access() = default;
    constexpr Access(std::uint64_t line, unsigned sectors, Action action)
        : bits_(line << 8U | static_cast<std::uint64_t>(action) << 4U | sectors) {}
    // Sectors of a tensor that hit in L1 whatever it holds: a number, and none of the addresses.
    static constexpr Access hits(Tensor tensor, std::uint64_t sectors) {
        return {(base_address(tensor) >> kLineShift) + sectors, 0, Action::hits};
    }
    [[nodiscard]] constexpr std::uint64_t hits() const { return number(); }
    // These sectors of all lines of a group, which are lines of one tensor.
    static constexpr Access group(Tensor tensor, std::uint64_t group, unsigned sectors, Action action) {
        return {(base_address(tensor) >> kLineShift) + group, sectors, action};
    }
    [[nodiscard]] constexpr std::uint64_t group() const { return number(); }
    // One line of a group, as the slice of L2 that has it finds it: the lines of groups that it has are numbered, and
    // so are the parts of groups that they are.
    static constexpr unsigned kMemberBits = 18;
    static constexpr Access member(unsigned tensor, std::uint64_t part, std::uint64_t number) {
        return {(std::uint64_t{tensor} << (kTensorShift - kLineShift)) + (part << kMemberBits) + number, 0,
                Action::read_member};
    }
    [[nodiscard]] constexpr std::uint64_t member_part() const { return number() >> kMemberBits; }
    [[nodiscard]] constexpr std::uint64_t member_number() const {
        return number() & ((std::uint64_t{1} << kMemberBits) - 1);
    }
    // A store to some of the pairs of bytes of one sector, of which it has 16.
    static constexpr Access part(std::uint64_t line, unsigned sector, std::uint16_t pairs) {
        Access access{line, 1U << sector, Action::write_part};
        access.bits_ |= std::uint64_t{pairs} << kPairsShift;
        return access;
    }
    // Who asks L2: an SM of this partition; counted: as traffic of the counted CTAs.
    static constexpr std::uint64_t sender(unsigned partition, bool counted) {
        return std::uint64_t{partition} << kPartitionShift | std::uint64_t{counted} << kCountedShift;
    }
    [[nodiscard]] constexpr Access sent_by(std::uint64_t sender) const {
        Access access = *this;
        access.bits_ |= sender;
        return access;
    }
    // The same for other sectors.
    [[nodiscard]] constexpr Access with_sectors(unsigned sectors) const {
        Access access = *this;
        access.bits_ = (bits_ & ~std::uint64_t{kAllSectors}) | sectors;
        return access;
    }
    // The same for another line.
    [[nodiscard]] constexpr Access with_line(std::uint64_t line, Action action) const {
        Access access{line, sectors(), action};
        access.bits_ |= bits_ & sender(1, true);
        return access;
    }
    [[nodiscard]] constexpr unsigned partition() const { return static_cast<unsigned>(bits_ >> kPartitionShift & 1U); }
    [[nodiscard]] constexpr unsigned counted() const { return static_cast<unsigned>(bits_ >> kCountedShift & 1U); }
    // Counted, partition and tensor as one number, by which counts can be kept.
    static constexpr unsigned kAccounts = 32;
    [[nodiscard]] constexpr unsigned account() const {
        return static_cast<unsigned>(bits_ >> (kTensorShift - kLineShift + 8U)) % kAccounts;
    }
    [[nodiscard]] constexpr std::uint16_t pairs() const { return static_cast<std::uint16_t>(bits_ >> kPairsShift); }
    [[nodiscard]] constexpr std::uint64_t line() const { return (bits_ & kLineBits) >> 8U; }
    [[nodiscard]] constexpr unsigned sectors() const { return static_cast<unsigned>(bits_ & kAllSectors); }
    [[nodiscard]] constexpr unsigned count() const { return sector_count(sectors()); }
    [[nodiscard]] constexpr Action action() const { return static_cast<Action>(bits_ >> 4U & 0xFU); }
    // Equal for accesses that do the same to the same tensor.
    [[nodiscard]] constexpr std::uint64_t kind() const {
        return bits_ & (0xF0U | (kLineBits & ~std::uint64_t{0} << (kTensorShift - kLineShift + 8U)));
    }
    // The same, so many lines further on. Hits have no address.
    constexpr void move(std::uint64_t lines) {
        if (action() != Action::hits) bits_ += lines << 8U;
    }
    // The same of accesses that all have an address.
    static constexpr void move(std::span<Access> accesses, std::uint64_t lines) {
        for (Access& access : accesses) access.bits_ += lines << 8U;
    }
    // Equal but for the sectors.
    [[nodiscard]] constexpr bool is_like(Access other) const {
        return ((bits_ ^ other.bits_) & ~std::uint64_t{kAllSectors}) == 0;
    }
    constexpr void add_sectors(unsigned sectors) { bits_ |= sectors; }
    bool operator==(const Access&) const = default;

private:
    static constexpr unsigned kPartitionShift = 46, kCountedShift = 47, kPairsShift = 48;
    static constexpr std::uint64_t kLineBits = (std::uint64_t{1} << kPartitionShift) - 1;
    static_assert(8 + kTensorShift - kLineShift + 3 == kPartitionShift, "lines of eight tensors end below that");
    [[nodiscard]] constexpr std::uint64_t number() const {
        return line() & ((std::uint64_t{1} << (kTensorShift - kLineShift)) - 1);
    }

    std::uint64_t bits_ = 0;
};

constexpr unsigned tensor_of(std::uint64_t line) { return static_cast<unsigned>(line >> (kTensorShift - kLineShift)); }

// Spreads lines over sets and slices: strides of powers of two, which tensors have, must not fall on few sets. GPUs
// hash too; which function is not published, so this is a well-mixing one (the finaliser of MurmurHash3).
constexpr std::uint64_t mixed(std::uint64_t line) {
    line ^= line >> 33U;
    line *= 0xff51afd7ed558ccdULL;
    line ^= line >> 33U;
    line *= 0xc4ceb9fe1a85ec53ULL;
    return line ^ line >> 33U;
}

}  // namespace gambrel::sim_detail
