// Loaded before likwid-bench, so that its vectors lie in huge pages as ours do: else two ways of translating addresses
// would be compared.
#include <cerrno>
#include <cstdlib>

#include <sys/mman.h>

extern "C" int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    constexpr std::size_t kHuge = std::size_t{2} << 20U;
    const std::size_t whole = (size + kHuge - 1) / kHuge * kHuge;
    void* const memory = std::aligned_alloc(alignment > kHuge ? alignment : kHuge, whole);
    if (memory == nullptr) return ENOMEM;
    madvise(memory, whole, MADV_HUGEPAGE);
    *result = memory;
    return 0;
}
