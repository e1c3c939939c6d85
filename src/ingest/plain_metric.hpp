// The common ways to write a metric of an Nsight Compute report, read without the machinery for all others. Whatever is
// written in another way is not an error here: nothing is returned, and the caller reads it field by field.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/protobuf.hpp"

namespace gambrel::ingest_detail {

// A varint of one to three bytes; size 0 where it is longer. Reads up to three bytes.
struct ShortNumber {
    std::size_t value, size;
};
inline ShortNumber short_number(const unsigned char* at) {
    if (at[0] < 0x80) return {at[0], 1};
    if (at[1] < 0x80) return {(at[0] & 0x7FU) | std::size_t{at[1]} << 7U, 2};
    if (at[2] < 0x80) return {(at[0] & 0x7FU) | (at[1] & 0x7FU) << 7U | std::size_t{at[2]} << 14U, 3};
    return {0, 0};
}

// The varint that fills [at, end); at most nine bytes, which hold 63 bits.
inline std::optional<std::uint64_t> filling_varint(const unsigned char* at, const unsigned char* end) {
    if (end - at > 9) return std::nullopt;
    std::uint64_t value = 0;
    for (unsigned shift = 0; at != end; ++at, shift += 7) {
        value |= std::uint64_t{*at & 0x7FU} << shift;
        if (*at < 0x80) return at + 1 == end ? std::optional(value) : std::nullopt;
    }
    return std::nullopt;
}

// The number that a metric holds after its NameId, where its Value comes next and has one field: a count, a double or a
// float. Instances may follow.
inline std::optional<double> plain_number(const unsigned char* at, std::size_t size) {
    using namespace base_detail;
    static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");
    constexpr std::uint32_t kDouble = protozero::tag_and_type(3, protozero::pbf_wire_type::fixed64);
    if (size < 4 || at[0] != bytes_field(2) || at[1] < 2 || at[1] >= 0x80 || at[1] > size - 2) return std::nullopt;
    const unsigned char *const value = at + 3, *const end = at + 2 + at[1];
    const auto copied = [&](auto number) -> std::optional<double> {
        if (static_cast<std::size_t>(end - value) != sizeof number) return std::nullopt;
        std::memcpy(&number, value, sizeof number);
        return static_cast<double>(number);
    };
    switch (at[2]) {
        case varint_field(5):
            if (const auto count = filling_varint(value, end)) return static_cast<double>(*count);
            return std::nullopt;
        case kDouble:
            return copied(double{});
        case fixed32_field(2):
            return copied(float{});
        default:
            return std::nullopt;
    }
}

}  // namespace gambrel::ingest_detail
