// The container of an Nsight Compute report: after a file header, blocks to the end of the file. A block is the size
// of a header (u32, little endian), the header, and a payload of items, each after its size; the header says how many
// items of which kind. Finds every item and all that the headers say, and decodes no item.
// Invariant: every view lies inside the bytes given; a size that lies becomes a note, never a read or an allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::ingest_detail {

// Faults of a file by byte offset. Damage comes in thousands, so only the first few are spelled out.
class DamageLog {
public:
    DamageLog(std::string source, std::string_view file) : source_(std::move(source)), file_(file) {}
    void add(std::size_t offset, std::string what);
    // The same where launches or their values were lost.
    void lose(std::size_t offset, std::string what) {
        lost_ = true;
        add(offset, std::move(what));
    }
    [[nodiscard]] bool lost() const { return lost_; }
    [[nodiscard]] std::size_t offset_of(std::string_view part) const {
        return static_cast<std::size_t>(part.data() - file_.data());
    }
    [[nodiscard]] std::vector<Error> notes() &&;

private:
    static constexpr std::size_t kSpelledOut = 20;
    std::string source_;
    std::string_view file_;
    std::vector<Error> notes_;
    std::size_t more_ = 0;
    bool lost_ = false;
};

enum class NcuItemKind : std::uint8_t { source, kernel, range, cmdlist, graph };  // in the order of a payload
inline constexpr std::size_t kNcuItemKinds = 5;

struct NcuItem {
    NcuItemKind kind = NcuItemKind::kernel;
    std::string_view bytes;
};

struct NcuDevice {
    std::uint64_t id = 0;
    std::string_view name;
    std::vector<std::string_view> attributes;  // messages {1 name, 2 Value}
};

struct NcuContainer {
    std::vector<NcuItem> results;           // in file order, sources left out
    std::vector<std::string_view> strings;  // what a NameId of any result indexes
    std::string_view tool_version;          // "2022.3.0.0 (build 31729285) (public-release)"
    std::string_view command_line;
    std::vector<NcuDevice> devices;
};

// Reads on to the last whole item of a damaged or truncated file.
NcuContainer walk_ncu_container(std::string_view file, std::size_t first_block, DamageLog& damage);

}  // namespace gambrel::ingest_detail
