#include "measure/host/arena.hpp"

#include <numeric>
#include <random>
#include <vector>

#include <sys/mman.h>

namespace gambrel::measure_detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void Unmap::operator()(void* p) const { munmap(p, size); }

bool Arena::reserve(std::size_t bytes) {
    if (bytes <= size_) return true;
    memory_.reset();
    size_ = 0;
    const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    // mmap aligns large maps to a page only: ask for one more huge page and give back what stands out.
    void* raw = mmap(nullptr, whole + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return false;
    auto* const begin = static_cast<std::byte*>(raw);
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(raw) % kHugePage) % kHugePage;
    if (before > 0) munmap(begin, before);
    if (before < kHugePage) munmap(begin + before + whole, kHugePage - before);
    madvise(begin + before, whole, MADV_HUGEPAGE);  // refused: the DRAM figures then hold for small pages
    memory_ = {begin + before, Unmap{whole}};
    size_ = whole;
    return true;
}

std::size_t make_chase(std::uint64_t* words, std::size_t bytes) {
    const std::size_t lines = bytes / (kLineWords * sizeof(std::uint64_t));
    std::vector<std::uint32_t> order(lines);
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937_64 random(20);
    for (std::size_t i = lines; i-- > 2;) std::swap(order[i], order[1 + random() % i]);  // the first line stays first
    for (std::size_t i = 0; i < lines; ++i) {
        std::uint64_t* const line = words + order[i] * kLineWords;
        line[0] = reinterpret_cast<std::uint64_t>(words + order[i + 1 == lines ? 0 : i + 1] * kLineWords);
        line[1] = i;
    }
    return lines;
}

const std::uint64_t* chase(const std::uint64_t* from, std::int64_t steps) {
    const std::uint64_t* at = from;
    for (; steps >= 8; steps -= 8)
        for (int i = 0; i < 8; ++i) at = reinterpret_cast<const std::uint64_t*>(at[0]);
    for (; steps > 0; --steps) at = reinterpret_cast<const std::uint64_t*>(at[0]);
    return at;
}

}  // namespace gambrel::measure_detail
