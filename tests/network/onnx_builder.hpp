// Writes small ONNX models for tests: just the fields that readers look at.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <protozero/pbf_writer.hpp>

namespace gambrel::test {

using Shape = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

struct Attributes {
    std::vector<std::pair<std::string, std::int64_t>> integers;
    std::vector<std::pair<std::string, Shape>> lists;
    std::vector<std::pair<std::string, std::string>> texts;
};

class OnnxBuilder {
public:
    OnnxBuilder& node(const std::string& op, const Names& inputs, const Names& outputs,
                      const Attributes& attributes = {}, const std::string& domain = "") {
        std::string bytes;
        protozero::pbf_writer w(bytes);
        for (const auto& name : inputs) w.add_string(1, name);
        for (const auto& name : outputs) w.add_string(2, name);
        w.add_string(4, op);
        for (const auto& [name, value] : attributes.integers) {
            protozero::pbf_writer a(w, 5);
            a.add_string(1, name);
            a.add_int64(3, value);
        }
        for (const auto& [name, values] : attributes.lists) {
            protozero::pbf_writer a(w, 5);
            a.add_string(1, name);
            a.add_packed_int64(8, values.begin(), values.end());
        }
        for (const auto& [name, text] : attributes.texts) {
            protozero::pbf_writer a(w, 5);
            a.add_string(1, name);
            a.add_string(4, text);
        }
        if (!domain.empty()) w.add_string(7, domain);
        return field(1, bytes);
    }

    // -1 is a dimension named after its place: "d0".
    OnnxBuilder& input(const std::string& name, const Shape& shape, int type = 1) {
        return field(11, info(name, shape, type));
    }
    OnnxBuilder& output(const std::string& name, const Shape& shape = {1}) { return field(12, info(name, shape, 1)); }
    OnnxBuilder& value_info(const std::string& name, const Shape& shape) { return field(13, info(name, shape, 1)); }

    OnnxBuilder& weight(const std::string& name, const Shape& dims, std::size_t raw_bytes = 0) {
        std::string bytes;
        protozero::pbf_writer w(bytes);
        w.add_packed_int64(1, dims.begin(), dims.end());
        w.add_int32(2, 1);
        w.add_string(8, name);
        if (raw_bytes > 0) w.add_bytes(9, std::string(raw_bytes, '\x7f'));
        return field(5, bytes);
    }
    OnnxBuilder& integers(const std::string& name, const Shape& values) {
        std::string bytes;
        protozero::pbf_writer w(bytes);
        w.add_int64(1, static_cast<std::int64_t>(values.size()));
        w.add_int32(2, 7);
        w.add_packed_int64(7, values.begin(), values.end());
        w.add_string(8, name);
        return field(5, bytes);
    }

    [[nodiscard]] std::string model(std::int64_t opset = 13) const {
        std::string bytes;
        protozero::pbf_writer w(bytes);
        w.add_int64(1, 8);
        w.add_message(7, graph_);
        protozero::pbf_writer set(w, 8);
        set.add_int64(2, opset);
        return bytes;
    }

private:
    OnnxBuilder& field(std::uint32_t tag, const std::string& bytes) {
        protozero::pbf_writer(graph_).add_message(tag, bytes);
        return *this;
    }
    static std::string info(const std::string& name, const Shape& shape, int type) {
        std::string bytes;
        protozero::pbf_writer w(bytes);
        w.add_string(1, name);
        protozero::pbf_writer t(w, 2), tensor(t, 1);
        tensor.add_int32(1, type);
        protozero::pbf_writer dims(tensor, 2);
        for (std::size_t i = 0; i < shape.size(); ++i) {
            protozero::pbf_writer dim(dims, 1);
            if (shape[i] >= 0)
                dim.add_int64(1, shape[i]);
            else
                dim.add_string(2, "d" + std::to_string(i));
        }
        return bytes;
    }
    std::string graph_;
};

}  // namespace gambrel::test
