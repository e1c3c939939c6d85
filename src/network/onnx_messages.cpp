#include "network/onnx_messages.hpp"

#include <cstring>

#include "base/protobuf.hpp"

namespace gambrel::network_detail {
namespace {

using namespace base_detail;

template <class T>
std::vector<double> from_little_endian(std::string_view raw, std::size_t count) {
    std::vector<double> values;
    if (raw.size() < count * sizeof(T)) return values;
    for (std::size_t i = 0; i < count; ++i) {
        T value{};
        std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
        values.push_back(static_cast<double>(value));
    }
    return values;
}

std::vector<double> raw_values(std::string_view raw, int type, std::size_t count) {
    switch (type) {
        case kOnnxFloat:
            return from_little_endian<float>(raw, count);
        case kOnnxInt32:
            return from_little_endian<std::int32_t>(raw, count);
        case kOnnxInt64:
            return from_little_endian<std::int64_t>(raw, count);
        case kOnnxBool:
        case kOnnxUint8:
            return from_little_endian<std::uint8_t>(raw, count);
        case kOnnxDouble:
            return from_little_endian<double>(raw, count);
        default:
            return {};
    }
}

// A repeated integer is packed in files of proto3 writers and not in those of proto2 writers.
template <class Add>
bool read_integers(WireReader& reader, std::uint32_t tag, const Add& add) {
    if (reader.tag_and_type() == varint_field(tag)) {
        add(reader.get_int64());
        return true;
    }
    if (reader.tag_and_type() != bytes_field(tag)) return false;
    for (const std::int64_t value : reader.get_packed_int64()) add(value);
    return true;
}

template <class Add>
bool read_floats(WireReader& reader, std::uint32_t tag, const Add& add) {
    if (reader.tag_and_type() == fixed32_field(tag)) {
        add(static_cast<double>(reader.get_float()));
        return true;
    }
    if (reader.tag_and_type() != bytes_field(tag)) return false;
    for (const float value : reader.get_packed_float()) add(static_cast<double>(value));
    return true;
}

// The number of elements if there are few enough to be values of a shape.
std::optional<std::size_t> small_count(const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) {
        if (dim < 0 || dim > static_cast<std::int64_t>(kMostValues)) return std::nullopt;
        count *= static_cast<std::size_t>(dim);
        if (count > kMostValues) return std::nullopt;
    }
    return count;
}

std::vector<double> field_values(std::string_view message, int type) {
    std::vector<double> values;
    const auto add = [&values](auto value) {
        if (values.size() <= kMostValues) values.push_back(static_cast<double>(value));
    };
    WireReader reader = reader_of(message);
    while (reader.next()) {
        const bool taken = (type == kOnnxFloat && read_floats(reader, 4, add)) ||
                           (type != kOnnxFloat && (read_integers(reader, 5, add) || read_integers(reader, 7, add)));
        if (!taken) reader.skip();
    }
    return values;
}

OnnxAttribute decode_attribute(std::string_view message) {
    OnnxAttribute a;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                a.name = view_of(reader);
                continue;
            case fixed32_field(2):
                a.number = static_cast<double>(reader.get_float());
                continue;
            case varint_field(3):
                a.integer = reader.get_int64();
                continue;
            case bytes_field(4):
                a.text = view_of(reader);
                continue;
            case bytes_field(5):
                a.tensor = view_of(reader);
                continue;
            case bytes_field(6):
            case bytes_field(11):
                a.has_graph = true;
                reader.skip();
                continue;
            default:
                break;
        }
        if (read_floats(reader, 7, [&a](double v) { a.numbers.push_back(v); })) continue;
        if (read_integers(reader, 8, [&a](std::int64_t v) { a.integers.push_back(v); })) continue;
        reader.skip();
    }
    return a;
}

OnnxNode decode_node(std::string_view message) {
    OnnxNode node;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                node.inputs.push_back(view_of(reader));
                break;
            case bytes_field(2):
                node.outputs.push_back(view_of(reader));
                break;
            case bytes_field(3):
                node.name = view_of(reader);
                break;
            case bytes_field(4):
                node.op = view_of(reader);
                break;
            case bytes_field(5):
                node.attributes.push_back(decode_attribute(view_of(reader)));
                break;
            case bytes_field(7):
                node.domain = view_of(reader);
                break;
            default:
                reader.skip();
        }
    }
    return node;
}

OnnxDim decode_dim(std::string_view message) {
    OnnxDim dim;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        if (reader.tag_and_type() == varint_field(1))
            dim.value = reader.get_int64();
        else if (reader.tag_and_type() == bytes_field(2))
            dim.symbol = view_of(reader);
        else
            reader.skip();
    }
    return dim;
}

// Calls back with the content of every length-delimited field `tag`.
template <class Use>
void each(std::string_view message, std::uint32_t tag, const Use& use) {
    WireReader reader = reader_of(message);
    while (reader.next()) {
        if (reader.tag_and_type() == bytes_field(tag))
            use(view_of(reader));
        else
            reader.skip();
    }
}

OnnxValueInfo decode_value_info(std::string_view message) {
    OnnxValueInfo info;
    each(message, 1, [&](std::string_view name) { info.name = name; });
    each(message, 2, [&](std::string_view type) {
        each(type, 1, [&](std::string_view tensor) {
            WireReader reader = reader_of(tensor);
            while (reader.next()) {
                if (reader.tag_and_type() == varint_field(1)) {
                    info.type = reader.get_int32();
                } else if (reader.tag_and_type() == bytes_field(2)) {
                    info.has_shape = true;
                    each(view_of(reader), 1, [&](std::string_view dim) { info.dims.push_back(decode_dim(dim)); });
                } else {
                    reader.skip();
                }
            }
        });
    });
    return info;
}

void decode_graph(std::string_view message, OnnxModel& model) {
    model.has_graph = true;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(1):
                model.nodes.push_back(decode_node(view_of(reader)));
                break;
            case bytes_field(2):
                model.graph_name = view_of(reader);
                break;
            case bytes_field(5):
                model.initializers.push_back(decode_onnx_tensor(view_of(reader)));
                break;
            case bytes_field(11):
                model.inputs.push_back(decode_value_info(view_of(reader)));
                break;
            case bytes_field(12):
                model.outputs.push_back(decode_value_info(view_of(reader)));
                break;
            case bytes_field(13):
                model.infos.push_back(decode_value_info(view_of(reader)));
                break;
            default:
                reader.skip();
        }
    }
}

std::int64_t decode_opset(std::string_view message, std::int64_t so_far) {
    std::string_view domain;
    std::int64_t version = 0;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        if (reader.tag_and_type() == bytes_field(1))
            domain = view_of(reader);
        else if (reader.tag_and_type() == varint_field(2))
            version = reader.get_int64();
        else
            reader.skip();
    }
    return domain.empty() || domain == "ai.onnx" ? version : so_far;
}

}  // namespace

OnnxTensor decode_onnx_tensor(std::string_view message) {
    OnnxTensor tensor;
    std::string_view raw;
    bool external = false;
    WireReader reader = reader_of(message);
    while (reader.next()) {
        if (read_integers(reader, 1, [&](std::int64_t dim) { tensor.dims.push_back(dim); })) continue;
        switch (reader.tag_and_type()) {
            case varint_field(2):
                tensor.type = reader.get_int32();
                break;
            case bytes_field(8):
                tensor.name = view_of(reader);
                break;
            case bytes_field(9):
                raw = view_of(reader);
                break;
            case bytes_field(13):
                external = true;
                reader.skip();
                break;
            default:
                reader.skip();
        }
    }
    const auto count = small_count(tensor.dims);
    if (!count || external) return tensor;
    auto values = raw.empty() ? field_values(message, tensor.type) : raw_values(raw, tensor.type, *count);
    if (values.size() == *count) tensor.values = std::move(values);
    return tensor;
}

OnnxModel decode_onnx_model(std::string_view bytes) {
    OnnxModel model;
    WireReader reader = reader_of(bytes);
    while (reader.next()) {
        if (reader.tag_and_type() == bytes_field(7))
            decode_graph(view_of(reader), model);
        else if (reader.tag_and_type() == bytes_field(8))
            model.opset = decode_opset(view_of(reader), model.opset);
        else
            reader.skip();
    }
    return model;
}

}  // namespace gambrel::network_detail
