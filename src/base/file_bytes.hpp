// The bytes of a file: mapped if it is plain, unpacked in memory if it is gzip. Lives as long as the views into it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <gambrel/base.hpp>

namespace gambrel::base_detail {

class FileBytes {
public:
    static Result<FileBytes> open(const std::string& path);

    FileBytes(FileBytes&&) noexcept;
    FileBytes& operator=(FileBytes&&) noexcept;
    ~FileBytes();

    [[nodiscard]] std::string_view view() const { return view_; }

private:
    FileBytes() = default;
    void* mapped_ = nullptr;
    std::size_t mapped_size_ = 0;
    std::unique_ptr<std::string> owned_;
    std::string_view view_;
};

// gzip to text; refuses what unpacks to more than `limit` bytes, so that a small file cannot take all memory.
Result<std::string> gunzip(std::string_view bytes, const std::string& source, std::size_t limit = std::size_t{4} << 30);
bool is_gzip(std::string_view bytes);

}  // namespace gambrel::base_detail
