// Room for many elements at once, in pages of 2 MB where the system gives them to who asks: a vector of tens of
// megabytes that is filled once else costs a page fault for every 4 kB, more than what fills it. It is only advice:
// where it is not followed, nothing changes but the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gambrel::base_detail {

template <class T>
void reserve_in_huge_pages(std::vector<T>& vector, std::size_t count) {
    vector.reserve(count);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20U;
    const auto begin = reinterpret_cast<std::uintptr_t>(vector.data());
    const std::uintptr_t end = begin + vector.capacity() * sizeof(T);
    // Whole pages inside the vector only: its neighbours in memory are none of its business.
    const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace gambrel::base_detail
