// What readers of the protobuf wire format share. A field of an unexpected wire type is skipped like an unknown one;
// malformed bytes throw protozero::exception, which each reader catches before its own border.
#pragma once

#include <cstdint>
#include <string_view>

#include <protozero/pbf_reader.hpp>

namespace gambrel::base_detail {

// Cases of a switch over tag_and_type(): a field whose wire type is not the expected one must not match its number,
// because protozero checks the wire type of a read only by assert.
constexpr std::uint32_t varint_field(std::uint32_t tag) {
    return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
constexpr std::uint32_t bytes_field(std::uint32_t tag) {
    return protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}
constexpr std::uint32_t fixed32_field(std::uint32_t tag) {
    return protozero::tag_and_type(tag, protozero::pbf_wire_type::fixed32);
}

// protozero keeps lengths in 32 bits: a claimed length of 4 GiB would wrap to 0 and be read as an empty field.
class WireReader : public protozero::pbf_reader {
public:
    using pbf_reader::pbf_reader;
    bool next() {
        if (!pbf_reader::next()) return false;
        if (wire_type() == protozero::pbf_wire_type::length_delimited && has_long_length()) {
            const char* at = data().data();
            if (protozero::decode_varint(&at, at + data().size()) > data().size())
                throw protozero::end_of_buffer_exception();
        }
        return true;
    }
    bool next(std::uint32_t tag, protozero::pbf_wire_type type) {
        while (next()) {
            if (tag_and_type() == protozero::tag_and_type(tag, type)) return true;
            skip();
        }
        return false;
    }

private:
    // Five bytes or more: nothing shorter reaches 2^32, and nearly all lengths are of one byte.
    [[nodiscard]] bool has_long_length() const {
        const auto rest = data();
        return rest.size() > 4 && (rest.data()[0] & rest.data()[1] & rest.data()[2] & rest.data()[3] & 0x80) != 0;
    }
};

inline std::string_view view_of(WireReader& reader) {
    const protozero::data_view view = reader.get_view();
    return {view.data(), view.size()};
}
inline std::string_view rest_of(const WireReader& reader) { return {reader.data().data(), reader.data().size()}; }
inline WireReader reader_of(std::string_view message) { return {message.data(), message.size()}; }

}  // namespace gambrel::base_detail
