// The bytes of a file: mapped if it is plain, unpacked in memory if it is gzip. Lives as long as the views into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <gambrel/base.hpp>

namespace gambrel::base_detail {

class FileBytes {
public:
    // Of a gzip file that is truncated or damaged: an error, or what lies before the damage, which damage() describes.
    enum class Damaged : std::uint8_t { refuse, keep };
    static Result<FileBytes> open(const std::string& path, Damaged damaged = Damaged::refuse);

    FileBytes(FileBytes&&) noexcept;
    FileBytes& operator=(FileBytes&&) noexcept;
    ~FileBytes();

    // At least kPadding bytes behind the view can be read too; what they hold is not defined.
    [[nodiscard]] std::string_view view() const { return view_; }
    // Of a mapped file, the pages before `position` may leave memory: who reads on does not need them. They can still
    // be read, at the cost of reading the file again.
    void forget_before(std::size_t position);
    static constexpr std::size_t kPadding = 64;
    // What is wrong with the file; empty: nothing.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    struct Mapping;

private:
    FileBytes() = default;
    void* mapped_ = nullptr;
    std::size_t mapped_size_ = 0, forgotten_ = 0;
    Mapping* slot_ = nullptr;
    std::unique_ptr<std::string> owned_;
    std::string_view view_;
    std::string damage_;
};

// What is not mapped is held in memory: pipes and unpacked files end here.
inline constexpr std::size_t kLongestInMemory = std::size_t{2} << 30;
// Tables and reports pack 10 to 20 times. Beyond the first kFreeUnpacked bytes, a file that packs more than kMostRatio
// times is refused: it is made to take all memory.
inline constexpr std::size_t kMostRatio = 100, kFreeUnpacked = std::size_t{64} << 20;

// gzip to text within these bounds. With `damage`, a stream that is truncated or damaged gives the text before that
// place, and the fault there.
Result<std::string> gunzip(std::string_view bytes, const std::string& source, std::size_t limit = kLongestInMemory,
                           std::string* damage = nullptr);
bool is_gzip(std::string_view bytes);

// The file whose mapping holds `address`, or null. For a handler of SIGBUS, which the system sends when a mapped file
// has become shorter: it takes no lock and allocates nothing.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace gambrel::base_detail
