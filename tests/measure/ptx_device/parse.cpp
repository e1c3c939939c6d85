#include <cctype>
#include <sstream>

#include "kernel.hpp"

namespace ptx {
namespace {

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// At commas outside of brackets.
std::vector<std::string> list_of(const std::string& text) {
    std::vector<std::string> items;
    std::string item;
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
        if (c == ',' && depth == 0)
            items.push_back(trimmed(item)), item.clear();
        else
            item += c;
    }
    if (!trimmed(item).empty()) items.push_back(trimmed(item));
    return items;
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

int width_of(const std::string& type) {
    if (type == "pred") return 1;
    if (type == "f16x2" || type == "bf16x2") return 32;
    const auto digit = type.find_first_of("0123456789");
    return digit == std::string::npos ? 0 : std::stoi(type.substr(digit));
}

Operand operand_of(const Kernel& kernel, std::string text) {
    Operand o;
    if (text.empty()) fail("an empty operand");
    if (text[0] == '{') {
        o.kind = Operand::Kind::vector;
        for (const std::string& part : list_of(text.substr(1, text.rfind('}') - 1)))
            o.parts.push_back(operand_of(kernel, part));
        return o;
    }
    if (text[0] == '[') {
        o.kind = Operand::Kind::memory;
        std::string inside = text.substr(1, text.rfind(']') - 1);
        if (const auto plus = inside.find('+', 1); plus != std::string::npos) {
            o.offset = std::stoll(inside.substr(plus + 1));
            inside.resize(plus);
        }
        o.parts.push_back(operand_of(kernel, trimmed(inside)));
        return o;
    }
    if (const auto reg = kernel.registers.find(text); reg != kernel.registers.end()) {
        o.kind = Operand::Kind::reg;
        o.reg = reg->second;
        return o;
    }
    if (text[0] == '%') {
        o.kind = Operand::Kind::special;
        o.name = text.substr(1);
        return o;
    }
    if (std::isdigit(static_cast<unsigned char>(text[0])) == 0 && text[0] != '-') {
        o.kind = Operand::Kind::symbol;
        o.name = text;
        return o;
    }
    if (text.size() > 2 && text[0] == '0' && std::string("fFdD").find(text[1]) != std::string::npos) {
        o.immediate = std::stoull(text.substr(2), nullptr, 16);
    } else if (text.find('.') != std::string::npos) {
        o.kind = Operand::Kind::decimal;
        o.decimal = std::stod(text);
    } else {
        while (text.back() == 'U') text.pop_back();
        o.immediate =
            text[0] == '-' ? static_cast<std::uint64_t>(std::stoll(text, nullptr, 0)) : std::stoull(text, nullptr, 0);
    }
    return o;
}

struct Statement {
    std::string text;
    bool label = false;
};

// Statements of the body, with the braces of scopes left out: NVRTC gives registers of inner scopes names of their own.
std::vector<Statement> statements_of(const std::string& text, std::size_t body) {
    std::vector<Statement> all;
    std::string now;
    int depth = 0, vectors = 0;
    const auto blank = [&] { return trimmed(now).empty(); };
    for (std::size_t i = body; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '{' && blank()) {
            ++depth;
        } else if (c == '}' && blank() && vectors == 0) {
            if (--depth == 0) return all;
        } else if (c == ';') {
            all.push_back({trimmed(now)}), now.clear();
        } else if (c == ':' && text[i + 1] != ':' && text[i - 1] != ':' && trimmed(now).starts_with('$')) {
            all.push_back({trimmed(now), true}), now.clear();
        } else {
            vectors += c == '{' ? 1 : c == '}' ? -1 : 0;
            now += c == '\n' || c == '\t' ? ' ' : c;
        }
    }
    fail("the body of the kernel does not end");
}

void declare_registers(Kernel& kernel, const std::vector<std::string>& words) {
    std::string names;
    for (std::size_t i = 2; i < words.size(); ++i) names += words[i];
    const auto add = [&](const std::string& name) {
        if (kernel.registers.emplace(name, kernel.register_count).second) ++kernel.register_count;
    };
    for (const std::string& name : list_of(names)) {
        const auto many = name.find('<');
        if (many == std::string::npos) {
            add(name);
            continue;
        }
        for (int i = 0; i < std::stoi(name.substr(many + 1)); ++i) add(name.substr(0, many) + std::to_string(i));
    }
}

void declare_shared(Kernel& kernel, const std::vector<std::string>& words) {
    std::uint32_t align = 4, size = 0;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] == ".align")
            align = static_cast<std::uint32_t>(std::stoul(words[i + 1]));
        else if (words[i][0] == '.' && width_of(words[i]) >= 8)
            size = static_cast<std::uint32_t>(width_of(words[i]) / 8);
    }
    std::string name = words.back();
    if (const auto bracket = name.find('['); bracket != std::string::npos) {
        size *= static_cast<std::uint32_t>(std::stoul(name.substr(bracket + 1)));
        name.resize(bracket);
    }
    const std::uint32_t at = (kernel.shared_bytes + align - 1) / align * align;
    kernel.shared[name] = kSharedBase + at;
    kernel.shared_bytes = at + size;
}

void read_parameters(Kernel& kernel, const std::string& text) {
    for (const std::string& one : list_of(text)) {
        const auto words = words_of(one);
        int size = 0;
        for (const std::string& word : words)
            if (size == 0 && word[0] == '.' && word != ".param" && word != ".ptr") size = width_of(word) / 8;
        if (size == 0) fail("parameter " + one);
        const int at = (kernel.parameter_bytes + size - 1) / size * size;
        kernel.parameters.push_back({words.back(), size, at});
        kernel.parameter_bytes = at + size;
    }
}

MatrixTypes matrix_types(const std::vector<std::string>& words) {
    static const std::map<std::string, Element> kTypes{
        {"f64", Element::f64},   {"f32", Element::f32},   {"tf32", Element::tf32}, {"s32", Element::s32},
        {"f16", Element::f16},   {"bf16", Element::bf16}, {"s8", Element::s8},     {"u8", Element::u8},
        {"e4m3", Element::e4m3}, {"e5m2", Element::e5m2}, {"e3m2", Element::e3m2}, {"e2m3", Element::e2m3},
        {"e2m1", Element::e2m1}};
    MatrixTypes types;
    for (const std::string& word : words) {
        if (word[0] == 'm' && std::sscanf(word.c_str(), "m%dn%dk%d", &types.m, &types.n, &types.k) == 3) continue;
        if (const auto type = kTypes.find(word); type != kTypes.end()) types.elements.push_back(type->second);
    }
    return types;
}

Instruction instruction_of(const Kernel& kernel, const std::string& text) {
    Instruction in;
    in.text = text;
    std::string rest = text;
    if (rest[0] == '@') {
        const auto space = rest.find(' ');
        in.predicate_negated = rest[1] == '!';
        const std::string name = rest.substr(in.predicate_negated ? 2 : 1, space - (in.predicate_negated ? 2 : 1));
        in.predicate = kernel.registers.at(name);
        rest = trimmed(rest.substr(space));
    }
    const auto space = rest.find(' ');
    std::istringstream opcode(rest.substr(0, space));
    for (std::string word; std::getline(opcode, word, '.');) in.words.push_back(word);
    const std::string& name = in.words.front();
    if (name == "bra") {
        in.control = Control::branch;
        in.operands.push_back({});
        in.operands.front().name = trimmed(rest.substr(space));
        return in;
    }
    if (name == "ret" || name == "exit") in.control = Control::exit;
    if (name == "bar" || name == "barrier") in.control = Control::barrier;
    if (space != std::string::npos)
        for (const std::string& operand : list_of(rest.substr(space)))
            in.operands.push_back(operand_of(kernel, operand));
    if (in.control != Control::none) return in;
    const std::string& type = in.words.back();
    in.width = width_of(type);
    in.type = type == "pred" ? 'p' : type[0];
    in.packed = type == "f16x2" || type == "bf16x2";
    in.bfloat = type == "bf16x2";
    for (const int lanes : {2, 4, 8})
        if (in.has("v" + std::to_string(lanes))) in.vector = lanes;
    if (name == "mma" || name == "wgmma" || name == "tcgen05") in.matrix = matrix_types(in.words);
    in.handler = plain_handler(in);
    if (in.handler == nullptr) in.handler = matrix_handler(in);
    if (in.handler == nullptr) fail("the model does not know " + text);
    return in;
}

std::string without_comments(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size());
        if (i < text.size()) out += text[i];
    }
    return out;
}

}  // namespace

std::shared_ptr<Kernel> parse(std::string_view ptx) {
    const std::string text = without_comments(ptx);
    auto kernel = std::make_shared<Kernel>();
    const auto target = text.find(".target "), entry = text.find(".entry ");
    if (target == std::string::npos || entry == std::string::npos) fail("not PTX: no .target or no .entry");
    kernel->target = trimmed(text.substr(target + 8, text.find('\n', target) - target - 8));
    const auto open = text.find('(', entry), close = text.find(')', open), body = text.find('{', close);
    kernel->name = trimmed(text.substr(entry + 7, open - entry - 7));
    read_parameters(*kernel, text.substr(open + 1, close - open - 1));
    if (const auto most = text.find(".maxntid", close); most < body)
        kernel->max_threads = static_cast<unsigned>(std::stoul(text.substr(most + 8)));
    // Declarations first: code may stand before the declaration of a shared array.
    const auto statements = statements_of(text, body);
    for (const Statement& s : statements) {
        const auto words = words_of(s.text);
        if (words.empty() || s.label) continue;
        if (words[0] == ".reg") declare_registers(*kernel, words);
        if (words[0] == ".shared") declare_shared(*kernel, words);
    }
    std::map<std::string, int> labels;
    for (const Statement& s : statements) {
        if (s.label)
            labels[s.text] = static_cast<int>(kernel->code.size());
        else if (!s.text.empty() && s.text[0] != '.')
            kernel->code.push_back(instruction_of(*kernel, s.text));
    }
    for (Instruction& in : kernel->code)
        if (in.control == Control::branch) in.target = labels.at(in.operands.front().name);
    return kernel;
}

}  // namespace ptx
