// Demangled C++ names made readable. A tolerant reader of "return ns::name<args>(parameters)", not a C++ parser: what
// it does not understand it keeps, and it never fails.
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include <gambrel/kernel.hpp>

namespace gambrel {
namespace {

struct Node {
    std::string text;
    std::vector<Node> arguments;
};

class Reader {
public:
    explicit Reader(std::string_view s) : s_(s) {}

    // One type or value, up to ',' or '>' of the enclosing list, or to the end.
    Node node(int depth) {
        Node n;
        while (at_ < s_.size()) {
            const char c = s_[at_];
            if (depth > 0 && (c == ',' || c == '>')) break;
            if (s_.substr(at_, kUnnamed.size()) == kUnnamed) {
                at_ += kUnnamed.size();
            } else if (c == '<' && starts_arguments(n)) {
                arguments(n, depth);
            } else if (c == ':' && s_.substr(at_, 2) == "::") {
                at_ += 2;
                if (in_function_body())
                    skip_to_delimiter(depth);
                else
                    drop_qualifier(n);
            } else if (c == '(' || c == '{' || c == '[') {
                if (!bracket(n, depth)) break;
            } else {
                n.text += c;
                ++at_;
            }
        }
        trim(n.text);
        return n;
    }

private:
    static constexpr int kMaxDepth = 64;  // deeper nesting is not shown
    static constexpr std::string_view kUnnamed = "<unnamed>";

    bool starts_arguments(const Node& n) const {
        return !n.text.empty() && (std::isalnum(static_cast<unsigned char>(n.text.back())) || n.text.back() == '_');
    }

    // "copy_kernel(...)::{lambda()#1}::operator()() const": the function tells more than the lambda in it.
    bool in_function_body() const {
        const std::string_view rest = s_.substr(at_);
        return rest.starts_with("{lambda") || rest.starts_with("[lambda") || rest.starts_with("operator");
    }
    void skip_to_delimiter(int depth) {
        while (at_ < s_.size() && !(depth > 0 && (s_[at_] == ',' || s_[at_] == '>'))) {
            const bool opens = s_[at_] == '(' || s_[at_] == '{' || s_[at_] == '[';
            at_ = opens ? std::min(closing(at_) + 1, s_.size()) : at_ + 1;
        }
    }

    void arguments(Node& n, int depth) {
        ++at_;
        n.arguments.clear();
        while (at_ < s_.size() && s_[at_] != '>') {
            if (depth >= kMaxDepth) {
                at_ = s_.size();
                return;
            }
            n.arguments.push_back(node(depth + 1));
            if (at_ < s_.size() && s_[at_] == ',') ++at_;
        }
        if (at_ < s_.size()) ++at_;
    }

    // "at::native::" before a name: keep what stands before the qualified name ("const "), drop the rest.
    static void drop_qualifier(Node& n) {
        n.arguments.clear();
        const auto space = n.text.rfind(' ');
        n.text.erase(space == std::string::npos ? 0 : space + 1);
    }

    // False if this is the parameter list of the outermost name: the end of what is worth showing.
    bool bracket(Node& n, int depth) {
        const std::size_t end = closing(at_);
        const std::string_view inside = s_.substr(at_ + 1, end > at_ + 1 ? end - at_ - 1 : 0);
        const bool is_lambda = inside.substr(0, 6) == "lambda";
        const bool is_scope = s_.substr(end + (end < s_.size()), 2) == "::";
        if (s_[at_] == '(' && n.text.ends_with("operator")) {
            n.text += "()";
        } else if (is_lambda) {
            n.text += "lambda";
        } else if (s_[at_] == '(' && !is_scope && depth == 0 && !n.text.empty()) {
            return false;
        }
        // Casts "(int)4", "(anonymous namespace)::" and parameter lists of inner functions say nothing to a reader.
        at_ = std::min(end + 1, s_.size());
        return true;
    }

    std::size_t closing(std::size_t open) const {
        int depth = 0;
        for (std::size_t i = open; i < s_.size(); ++i) {
            if (s_[i] == '(' || s_[i] == '{' || s_[i] == '[') ++depth;
            if ((s_[i] == ')' || s_[i] == '}' || s_[i] == ']') && --depth == 0) return i;
        }
        return s_.size();
    }

    static void trim(std::string& text) {
        while (!text.empty() && text.back() == ' ') text.pop_back();
        text.erase(0, text.find_first_not_of(' '));
        for (const std::string_view noise : {"void ", "const ", "static "})
            if (text.starts_with(noise)) text.erase(0, noise.size());
    }

    std::string_view s_;
    std::size_t at_ = 0;
};

std::string rendered(const Node& n, int depth) {
    std::string out = n.text;
    if (n.arguments.empty()) return out;
    if (depth == 0) return out + "<…>";
    out += '<';
    for (std::size_t i = 0; i < n.arguments.size(); ++i) out += (i ? ", " : "") + rendered(n.arguments[i], depth - 1);
    return out + '>';
}

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// "128x256x64" of GemmShape<128, 256, 64>, or of tuple<C<128>, C<256>, C<64>>; clusters are tuples of small numbers.
std::string tile_in(const Node& n, int depth = 0) {
    const bool shape = n.text == "GemmShape", tuple = n.text == "tuple";
    if ((shape || tuple) && n.arguments.size() >= 3) {
        std::string text;
        for (std::size_t i = 0; i < 3; ++i) {
            const Node& side = n.arguments[i];
            const bool wrapped = tuple && (side.text == "C" || side.text == "Int") && side.arguments.size() == 1;
            const std::string& number = wrapped ? side.arguments.front().text : side.text;
            if (!is_number(number) || (i < 2 && number.size() < 2)) {
                text.clear();
                break;
            }
            text += (i > 0 ? "x" : "") + number;
        }
        if (!text.empty()) return text;
    }
    for (const Node& inner : n.arguments)
        if (depth < 16)
            if (std::string text = tile_in(inner, depth + 1); !text.empty()) return text;
    return {};
}

// The first type of CUTLASS's own among the arguments: that of the operands.
std::string type_in(const Node& n, int depth = 0) {
    using Spelling = std::pair<std::string_view, std::string_view>;
    static constexpr std::array<Spelling, 8> kTypes = {{{"half_t", "f16"},
                                                        {"bfloat16_t", "bf16"},
                                                        {"tfloat32_t", "tf32"},
                                                        {"float_e4m3_t", "e4m3"},
                                                        {"float_e5m2_t", "e5m2"},
                                                        {"float_e2m1_t", "e2m1"},
                                                        {"int8_t", "s8"},
                                                        {"signed char", "s8"}}};
    for (const auto& [type, word] : kTypes)
        if (n.text == type) return std::string(word);
    for (const Node& inner : n.arguments)
        if (depth < 16)
            if (std::string text = type_in(inner, depth + 1); !text.empty()) return text;
    return {};
}

// CUTLASS launches everything through a kernel that only calls its template argument: Kernel2<cutlass_80_...>,
// device_kernel<enable_sm90_or_later<FlashAttnFwdSm90<...>>>. The argument is the kernel.
Node unwrapped(Node n) {
    const auto calls = [](const Node& node) {
        return node.text == "Kernel" || node.text == "Kernel2" || node.text == "device_kernel" ||
               node.text.starts_with("enable_sm");
    };
    while (calls(n) && n.arguments.size() == 1 && n.arguments.front().text.size() > 3) {
        Node inner = std::move(n.arguments.front());
        n = std::move(inner);
    }
    return n;
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t code_points(std::string_view s) {
    std::size_t n = 0;
    for (const char c : s) n += !continues(c);
    return n;
}

// The first tile in a name, "256x128" of "volta_fp16_s884cudnn_fp16_256x128_ldg8_..."; empty without one.
std::string_view tile_of(std::string_view text) {
    const auto digit = [&](std::size_t i) {
        return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));
    };
    for (std::size_t x = text.find('x'); x != std::string_view::npos; x = text.find('x', x + 1)) {
        if (x == 0 || !digit(x - 1) || !digit(x + 1)) continue;
        std::size_t begin = x, end = x + 1;
        while (begin > 0 && digit(begin - 1)) --begin;
        while (digit(end)) ++end;
        return text.substr(begin, end - begin);
    }
    return {};
}

// Library kernels keep layout and version at the end of the name, so the middle is what goes; but not the tile, which
// is often the only difference between two of them.
std::string cut(const std::string& text, std::size_t width) {
    const std::size_t length = code_points(text);
    if (length <= width) return text;
    const std::size_t head = (width - 1) * 3 / 5, tail = width - 1 - head;
    if (const std::string_view tile = tile_of(text);
        !tile.empty() && length == text.size() && tile.size() < width / 3) {
        const auto begin = static_cast<std::size_t>(tile.data() - text.data());
        if (begin + tile.size() > head && begin + tile.size() <= length - tail) {
            const std::size_t few = width / 5;
            return text.substr(0, few) + "…" + std::string(tile) + "…" +
                   text.substr(length - (width - 2 - few - tile.size()));
        }
    }
    std::string out;
    std::size_t index = 0;
    bool marked = false;
    for (const char c : text) {
        if (!continues(c)) ++index;
        if (index <= head || index > length - tail)
            out += c;
        else if (!std::exchange(marked, true))
            out += "…";
    }
    return out;
}

}  // namespace

std::string short_name(std::string_view full_name, std::size_t width) {
    if (width == 0) return "";
    Node n = Reader(full_name).node(0);
    // "enable_if<...>::type kernel": what stands before the last blank is the return type.
    if (const auto blank = n.text.rfind(' ');
        blank != std::string::npos && n.text.find("operator") == std::string::npos)
        n.text.erase(0, blank + 1);
    if (n.text.empty()) return cut(std::string(full_name), width);
    if (full_name.find("cutlass") != std::string_view::npos) n = unwrapped(std::move(n));
    // Below two levels of arguments, a tile says more than the names of what takes them.
    const std::string tile = n.arguments.empty() ? "" : tile_in(n), type = tile.empty() ? "" : type_in(n);
    for (int depth = 4; depth >= 0; --depth) {
        if (depth == 1 && !tile.empty())
            if (std::string text = n.text + '<' + tile + (type.empty() ? "" : " ") + type + '>';
                code_points(text) <= width)
                return text;
        if (std::string text = rendered(n, depth); code_points(text) <= width) return text;
    }
    return cut(rendered(n, 1), width);
}

}  // namespace gambrel
