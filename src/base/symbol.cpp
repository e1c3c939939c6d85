#include <gambrel/base.hpp>

#if !defined(__wasi__)
#include <mutex>
#endif
#include <unordered_set>

namespace gambrel {
namespace {

#if defined(__wasi__)
// WebAssembly without threads: its library has no mutex.
struct PoolLock {};
#else
struct PoolLock {
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    const std::lock_guard<std::mutex> held{mutex()};
};
#endif

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};

}  // namespace

Symbol::Symbol() {
    static const Symbol empty{std::string_view{}};
    text_ = empty.text_;
}

Symbol::Symbol(std::string_view text) {
    // Never destroyed: symbols in objects with static lifetime stay valid to the end. Node-based, so addresses are
    // stable.
    static auto& pool = *new std::unordered_set<std::string, Hash, std::equal_to<>>;
    [[maybe_unused]] const PoolLock lock;
    auto it = pool.find(text);
    if (it == pool.end()) it = pool.emplace(text).first;
    text_ = &*it;
}

}  // namespace gambrel
