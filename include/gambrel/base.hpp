// What every room uses: errors as values, names similar to a mistyped one, and strings stored once. The library never
// prints and never exits: it returns Errors. Knows no domain.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace gambrel {

struct Error {
    std::string where;  // file and path inside it: "h100.json: levels[1].bandwidth"
    std::string what;   // the value found and what was expected
    bool operator==(const Error&) const = default;
};

// A loader reports all faults of its input at once, so the failure of a result is a list, never empty.
using Errors = std::vector<Error>;

template <class T>
using Result = tl::expected<T, Errors>;

inline tl::unexpected<Errors> failure(std::string where, std::string what) {
    return tl::unexpected<Errors>(Errors{Error{std::move(where), std::move(what)}});
}

// Without control characters, invalid UTF-8 or text of unlimited length, whatever the input held that they quote.
std::string to_text(const Error& error);
std::string to_text(const Errors& errors);  // one line each

// The candidates that may have been meant: equal but for case, else a typing error (nearest by edit distance), else
// those that share a word with `name` ("resnet" and "resnet50", "bert" and "bert-base"). Empty if none is near enough.
std::vector<std::string> similar_names(std::string_view name, std::span<const std::string> candidates);
// Only slips: the nearest candidate, or "".
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);
// "; did you mean \"bandwidth\"?", with all candidates where several are as near, or "".
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// A string stored once for the life of the process. Kernel names and rule names repeat over a hundred thousand
// launches; a Symbol is a pointer, so copying, comparing and hashing them costs nothing.
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
