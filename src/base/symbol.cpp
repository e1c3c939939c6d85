#include <gambrel/base.hpp>

#include <mutex>
#include <unordered_set>

namespace gambrel {
namespace {

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
    static std::mutex mutex;
    // Never destroyed: symbols in objects with static lifetime stay valid to the end. Node-based, so addresses are
    // stable.
    static auto& pool = *new std::unordered_set<std::string, Hash, std::equal_to<>>;
    const std::lock_guard lock(mutex);
    auto it = pool.find(text);
    if (it == pool.end()) it = pool.emplace(text).first;
    text_ = &*it;
}

}  // namespace gambrel
