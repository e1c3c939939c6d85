// A large Nsight Compute report made from a small one, for timing: all its blocks, then its result blocks over and
// over. Repeated headers lose their string table, because tables of all blocks are joined and a repeated one would
// shift later ids.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace gambrel::bench {

inline std::uint32_t u32_at(std::string_view bytes, std::size_t offset) {
    if (bytes.size() < offset + 4) throw std::runtime_error("the report is truncated");
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

inline void append_block(std::string& out, std::string_view header, std::string_view payload) {
    const auto size = static_cast<std::uint32_t>(header.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size).append(header).append(payload);
}

struct BlockHead {
    std::uint32_t results = 0;
    std::uint32_t payload = 0;
    std::string without_strings;
};

inline BlockHead head_of(std::string_view header) {
    BlockHead head;
    protozero::pbf_writer kept(head.without_strings);
    protozero::pbf_reader reader(header.data(), header.size());
    while (reader.next()) {
        if (reader.wire_type() != protozero::pbf_wire_type::varint) {
            if (reader.tag() == 4)
                reader.skip();
            else
                kept.add_bytes(reader.tag(), reader.get_view());
            continue;
        }
        const auto tag = reader.tag();
        const auto value = reader.get_uint32();
        if (tag == 2) head.results = value;
        if (tag == 5) head.payload = value;
        kept.add_uint32(tag, value);
    }
    return head;
}

inline std::string file_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error(path + ": cannot be opened");
    return {std::istreambuf_iterator<char>(in), {}};
}

// Returns the size written. Throws where the input is not a whole report with a result.
inline std::size_t write_big_report(const std::string& in_path, const std::string& out_path, std::size_t wanted) {
    const std::string in = file_text(in_path);
    std::string repeated;
    for (std::size_t offset = 8 + u32_at(in, 4); offset < in.size();) {
        const std::string_view header = std::string_view(in).substr(offset + 4, u32_at(in, offset));
        const BlockHead head = head_of(header);
        const std::string_view payload = std::string_view(in).substr(offset + 4 + header.size(), head.payload);
        if (head.results > 0) append_block(repeated, head.without_strings, payload);
        offset += 4 + header.size() + payload.size();
    }
    if (repeated.empty()) throw std::runtime_error(in_path + ": has no result to repeat");
    std::ofstream out(out_path, std::ios::binary | std::ios::trunc);
    out.write(in.data(), static_cast<std::streamsize>(in.size()));
    std::size_t size = in.size();
    for (; size < wanted; size += repeated.size())
        out.write(repeated.data(), static_cast<std::streamsize>(repeated.size()));
    if (!out.flush()) throw std::runtime_error(out_path + ": cannot be written");
    return size;
}

}  // namespace gambrel::bench
