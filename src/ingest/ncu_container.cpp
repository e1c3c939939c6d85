#include "ingest/ncu_container.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include "ingest/ncu_messages.hpp"

namespace gambrel::ingest_detail {
namespace {

struct BlockHeader {
    std::array<std::uint32_t, kNcuItemKinds> items{};
    std::uint32_t payload = 0;
    std::string_view session;
    std::string_view strings;
};

BlockHeader decode_header(std::string_view bytes) {
    BlockHeader header;
    const auto count = [&header](NcuItemKind kind) -> std::uint32_t& {
        return header.items[static_cast<std::size_t>(kind)];
    };
    auto reader = reader_of(bytes);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1):
                count(NcuItemKind::source) = reader.get_uint32();
                break;
            case varint_field(2):
                count(NcuItemKind::kernel) = reader.get_uint32();
                break;
            case bytes_field(3):
                header.session = view_of(reader);
                break;
            case bytes_field(4):
                header.strings = view_of(reader);
                break;
            case varint_field(5):
                header.payload = reader.get_uint32();
                break;
            case varint_field(7):
                count(NcuItemKind::range) = reader.get_uint32();
                break;
            case varint_field(8):
                count(NcuItemKind::cmdlist) = reader.get_uint32();
                break;
            case varint_field(9):
                count(NcuItemKind::graph) = reader.get_uint32();
                break;
            default:
                reader.skip();
        }
    }
    return header;
}

class Walk {
public:
    Walk(std::string_view file, DamageLog& damage) : file_(file), damage_(damage) {}

    NcuContainer run(std::size_t offset) {
        while (offset < file_.size()) {
            const std::size_t next = block(offset);
            if (next <= offset) break;
            offset = next;
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] std::size_t left(std::size_t offset) const { return file_.size() - offset; }

    [[nodiscard]] std::uint32_t u32(std::size_t offset) const {
        std::array<unsigned char, 4> b{};
        std::memcpy(b.data(), file_.data() + offset, b.size());
        return b[0] | std::uint32_t{b[1]} << 8 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[3]} << 24;
    }

    // The offset of the next block, or 0 where the file ends or nothing tells where the next one starts.
    std::size_t block(std::size_t offset) {
        if (left(offset) < 4 || left(offset + 4) < u32(offset)) {
            truncated(offset, "the header of a block");
            return 0;
        }
        const std::string_view header_bytes = file_.substr(offset + 4, u32(offset));
        const std::size_t payload = offset + 4 + header_bytes.size();
        BlockHeader header;
        try {
            header = decode_header(header_bytes);
        } catch (const protozero::exception& error) {
            damage_.lose(offset,
                         fmt::format("this block header cannot be decoded ({}); the {} bytes from here on are not read",
                                     error.what(), left(offset)));
            return 0;
        }
        read_facts(header);
        const bool whole = header.payload <= left(payload);
        const std::size_t end = whole ? payload + header.payload : file_.size();
        read_items(header, payload, end, whole);
        return whole ? end : 0;
    }

    void read_facts(const BlockHeader& header) {
        try {
            if (!strings_lost_) read_string_table(header.strings, found_.strings);
        } catch (const protozero::exception& error) {
            // A string more or less would shift every later id to the name of another metric.
            strings_lost_ = true;
            damage_.lose(damage_.offset_of(header.strings),
                         fmt::format("this string table cannot be decoded ({}); metrics named from here on are lost",
                                     error.what()));
        }
        try {
            read_session(header.session, found_);
        } catch (const protozero::exception& error) {
            damage_.add(damage_.offset_of(header.session),
                        fmt::format("session details cannot be decoded ({})", error.what()));
        }
    }

    void read_items(const BlockHeader& header, std::size_t offset, std::size_t end, bool whole) {
        for (std::size_t kind = 0; kind < kNcuItemKinds; ++kind) {
            for (std::uint32_t i = 0; i < header.items[kind]; ++i) {
                const bool has_size = end - offset >= 4;
                if (!has_size || end - offset - 4 < u32(offset)) {
                    if (!whole) return truncated(offset, "an item of a block");
                    damage_.lose(
                        offset,
                        fmt::format(
                            "an item of {} bytes in a block with {} bytes left; the rest of the block is not read",
                            has_size ? u32(offset) : 0, end - offset));
                    return;
                }
                const std::string_view item = file_.substr(offset + 4, u32(offset));
                if (static_cast<NcuItemKind>(kind) != NcuItemKind::source && !item.empty())
                    found_.results.push_back({static_cast<NcuItemKind>(kind), item});
                offset += 4 + item.size();
            }
        }
        if (!whole) return truncated(offset, "a block");
        if (offset != end)
            damage_.add(offset, fmt::format("{} bytes of a kind that this reader does not know", end - offset));
    }

    void truncated(std::size_t offset, std::string_view inside) {
        damage_.lose(offset, fmt::format("the file is truncated inside {} ({} bytes left); read up to here", inside,
                                         left(offset)));
    }

    std::string_view file_;
    DamageLog& damage_;
    NcuContainer found_;
    bool strings_lost_ = false;
};

}  // namespace

void DamageLog::add(std::size_t offset, std::string what) {
    if (notes_.size() < kSpelledOut)
        notes_.push_back({fmt::format("{}: byte {}", source_, offset), std::move(what)});
    else
        ++more_;
}

std::vector<Error> DamageLog::notes() && {
    if (more_ > 0) notes_.push_back({source_, fmt::format("{} more faults of this file are not listed", more_)});
    return std::move(notes_);
}

NcuContainer walk_ncu_container(std::string_view file, std::size_t first_block, DamageLog& damage) {
    return Walk(file, damage).run(first_block);
}

}  // namespace gambrel::ingest_detail
