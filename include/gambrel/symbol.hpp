// A string stored once for the life of the process. Kernel names and rule names repeat over a hundred thousand
// launches; a Symbol is a pointer, so copying, comparing and hashing them costs nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gambrel {

class Symbol {
public:
    Symbol();                                // empty; costs no look-up
    explicit Symbol(std::string_view text);  // thread-safe

    [[nodiscard]] const std::string& str() const { return *text_; }
    [[nodiscard]] bool empty() const { return text_->empty(); }
    bool operator==(const Symbol&) const = default;
    // By text, so that sorted output does not depend on where strings happen to lie in memory.
    friend bool operator<(Symbol a, Symbol b) { return *a.text_ < *b.text_; }

private:
    friend struct std::hash<Symbol>;
    const std::string* text_;
};

}  // namespace gambrel

template <>
struct std::hash<gambrel::Symbol> {
    std::size_t operator()(gambrel::Symbol s) const noexcept { return std::hash<const void*>{}(s.text_); }
};
