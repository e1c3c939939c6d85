#include "ingest/ncu_messages.hpp"

#include <charconv>
#include <limits>

namespace gambrel::ingest_detail {
namespace {

using protozero::pbf_wire_type;

constexpr std::uint32_t float_field(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed32); }
constexpr std::uint32_t double_field(std::uint32_t tag) { return protozero::tag_and_type(tag, pbf_wire_type::fixed64); }

// NvtxRange: the name is field `tag`. Registered strings are already resolved into it by ncu.
void add_range_name(std::string_view range, std::uint32_t tag, std::vector<Symbol>& names) {
    auto reader = reader_of(range);
    std::string_view name;
    while (reader.next(tag, pbf_wire_type::length_delimited)) name = view_of(reader);
    if (!name.empty()) names.emplace_back(name);
}

// A domain of either kind: {1 id, 3 repeated range}.
void add_domain(std::string_view domain, std::uint32_t name_tag, std::vector<Symbol>& names) {
    auto reader = reader_of(domain);
    while (reader.next(3, pbf_wire_type::length_delimited)) add_range_name(view_of(reader), name_tag, names);
}

void add_thread(std::string_view bytes, std::uint32_t thread, std::vector<Symbol>& names) {
    std::uint32_t id = 0;
    std::vector<std::string_view> domains;
    auto reader = reader_of(bytes);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1):
                id = reader.get_uint32();
                break;
            case bytes_field(2):
                domains.push_back(view_of(reader));
                break;
            default:
                reader.skip();
        }
    }
    if (id != thread) return;
    for (const std::string_view domain : domains) add_domain(domain, 1, names);
}

void read_version(std::string_view bytes, NcuContainer& container) {
    std::string_view provider, version;
    auto reader = reader_of(bytes);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                provider = view_of(reader);
                break;
            case bytes_field(2):
                version = view_of(reader);
                break;
            default:
                reader.skip();
        }
    }
    if (provider == "Nsight Compute Target" && container.tool_version.empty()) container.tool_version = version;
}

void read_device(std::string_view bytes, NcuContainer& container) {
    NcuDevice device;
    auto reader = reader_of(bytes);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1):
                device.id = reader.get_uint64();
                break;
            case bytes_field(2):
                device.name = view_of(reader);
                break;
            case bytes_field(3):
                device.attributes.push_back(view_of(reader));
                break;
            default:
                reader.skip();
        }
    }
    container.devices.push_back(std::move(device));
}

}  // namespace

NcuValue decode_ncu_value(std::string_view message) {
    NcuValue value;
    const auto number = [&value](double v) { value = {NcuValue::Kind::number, v, {}}; };
    auto reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                value = {NcuValue::Kind::text, 0, view_of(reader)};
                break;
            case float_field(2):
                number(static_cast<double>(reader.get_float()));
                break;
            case double_field(3):
                number(reader.get_double());
                break;
            case varint_field(4):
                number(reader.get_uint32());
                break;
            case varint_field(5):
                number(static_cast<double>(reader.get_uint64()));
                break;
            default:
                reader.skip();
        }
    }
    return value;
}

std::optional<double> number_in(const NcuValue& value) {
    if (value.kind == NcuValue::Kind::number) return value.number;
    if (value.kind == NcuValue::Kind::absent) return std::nullopt;
    if (value.text == "n/a") return std::numeric_limits<double>::quiet_NaN();
    double number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, fault] = std::from_chars(value.text.data(), end, number);
    if (fault != std::errc{} || stop != end) return std::nullopt;
    return number;
}

NcuAttribute decode_ncu_attribute(std::string_view message) {
    NcuAttribute attribute;
    auto reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                attribute.name = view_of(reader);
                break;
            case bytes_field(2):
                attribute.value = decode_ncu_value(view_of(reader));
                break;
            default:
                reader.skip();
        }
    }
    return attribute;
}

std::optional<Dim3> decode_dim3(std::string_view message) {
    Dim3 dim{};
    auto reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1):
                dim[0] = reader.get_uint64();
                break;
            case varint_field(2):
                dim[1] = reader.get_uint64();
                break;
            case varint_field(3):
                dim[2] = reader.get_uint64();
                break;
            default:
                reader.skip();
        }
    }
    if (dim[0] == 0 || dim[1] == 0 || dim[2] == 0) return std::nullopt;
    return dim;
}

std::vector<Symbol> decode_nvtx_ranges(std::string_view state, std::uint32_t thread) {
    std::vector<Symbol> names;
    auto reader = reader_of(state);
    while (reader.next(2, pbf_wire_type::length_delimited)) add_thread(view_of(reader), thread, names);
    if (!names.empty()) return names;
    reader = reader_of(state);
    while (reader.next(3, pbf_wire_type::length_delimited)) add_domain(view_of(reader), 2, names);
    return names;
}

void read_string_table(std::string_view message, std::vector<std::string_view>& strings) {
    auto reader = reader_of(message);
    while (reader.next(1, pbf_wire_type::length_delimited)) strings.push_back(view_of(reader));
}

void read_session(std::string_view message, NcuContainer& container) {
    auto reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(6):
                read_device(view_of(reader), container);
                break;
            case bytes_field(8):
                read_version(view_of(reader), container);
                break;
            case bytes_field(11):
                container.command_line = view_of(reader);
                break;
            default:
                reader.skip();
        }
    }
}

}  // namespace gambrel::ingest_detail
