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

inline std::string_view view_of(protozero::pbf_reader& reader) {
    const protozero::data_view view = reader.get_view();
    return {view.data(), view.size()};
}
inline protozero::pbf_reader reader_of(std::string_view message) { return {message.data(), message.size()}; }

}  // namespace gambrel::base_detail
