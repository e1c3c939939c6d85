// Memory of one core: aligned to huge pages, asked to be made of them, first touched by the thread that uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gambrel::measure_detail {

struct Unmap {
    std::size_t size = 0;
    void operator()(void* p) const;
};

class Arena {
public:
    // Keeps what it has if that suffices; false if there is no memory. New memory is untouched.
    bool reserve(std::size_t bytes);
    [[nodiscard]] std::uint64_t* words() const { return static_cast<std::uint64_t*>(memory_.get()); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::unique_ptr<void, Unmap> memory_;
    std::size_t size_ = 0;
};

// Every line of `bytes` holds the address of the next in one random cycle, and its place in that cycle.
// Returns the number of lines.
std::size_t make_chase(std::uint64_t* words, std::size_t bytes);
inline constexpr std::size_t kLineWords = 8;

// Follows the cycle `steps` times from this line and returns the line reached; its second word is its place.
const std::uint64_t* chase(const std::uint64_t* from, std::int64_t steps);

}  // namespace gambrel::measure_detail
