// Writes Nsight Compute reports for tests, message by message, so that a trap of the format can be set on purpose.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_writer.hpp>

namespace gambrel::test {

using protozero::pbf_writer;

inline std::string sized(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < 4; ++i) out.push_back(static_cast<char>(bytes.size() >> (8 * i)));
    return out.append(bytes);
}

struct Message {
    std::string bytes;
    Message& number(std::uint32_t tag, std::uint64_t value) { return pbf_writer(bytes).add_uint64(tag, value), *this; }
    Message& real(std::uint32_t tag, double value) { return pbf_writer(bytes).add_double(tag, value), *this; }
    Message& single(std::uint32_t tag, float value) { return pbf_writer(bytes).add_float(tag, value), *this; }
    Message& text(std::uint32_t tag, std::string_view value) {
        return pbf_writer(bytes).add_bytes(tag, value.data(), value.size()), *this;
    }
    Message& message(std::uint32_t tag, const Message& value) { return text(tag, value.bytes); }
};

inline Message real_value(double value) { return Message().real(3, value); }
inline Message u64_value(std::uint64_t value) { return Message().number(5, value); }
inline Message text_value(std::string_view value) { return Message().text(1, value); }

inline Message metric(std::uint64_t name_id, const Message& value) {
    return Message().number(1, name_id).message(2, value);
}

inline Message dim3(std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return Message().number(1, x).number(2, y).number(3, z);
}

// A ProfileResult with 256 threads per block and the names in field order; metrics and further fields are added by the
// test.
inline Message kernel(std::string_view demangled = "k(int)", std::string_view function = "k",
                      const Message& grid = dim3(10, 2, 1)) {
    return Message()
        .number(1, 77)
        .number(2, 1)
        .text(5, "_Z1ki")
        .text(6, function)
        .text(7, demangled)
        .message(10, grid)
        .message(11, dim3(256, 1, 1));
}

struct Block {
    std::vector<Message> sources, kernels, ranges, cmdlists, graphs;
    std::vector<std::string> strings;
    Message session;
};

class ReportBuilder {
public:
    ReportBuilder() : bytes_("NVR\0", 4) { bytes_ += sized(Message().number(1, 7).bytes); }

    ReportBuilder& block(const Block& block) {
        std::string payload;
        for (const auto* items : {&block.sources, &block.kernels, &block.ranges, &block.cmdlists, &block.graphs})
            for (const Message& item : *items) payload += sized(item.bytes);
        Message table;
        for (const std::string& name : block.strings) table.text(1, name);
        Message header;
        header.number(1, block.sources.size()).number(2, block.kernels.size());
        if (!block.session.bytes.empty()) header.message(3, block.session);
        header.message(4, table).number(5, payload.size()).number(7, block.ranges.size());
        header.number(8, block.cmdlists.size()).number(9, block.graphs.size());
        return raw(sized(header.bytes) + payload);
    }
    ReportBuilder& version(std::string_view version) {
        Block facts;
        facts.session.message(8, Message().text(1, "Nsight Compute Target").text(2, version));
        return block(facts);
    }
    ReportBuilder& raw(std::string_view bytes) { return bytes_ += bytes, *this; }

    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace gambrel::test
