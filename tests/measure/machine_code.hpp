// Machine code of NVIDIA GPUs for the tests: kernels out of cubins, many of them through one run of nvdisasm, and their
// loops.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace gambrel::measure_detail {

// The machine code of the one kernel of a cubin: its section .text.NAME. "" if there is none.
inline std::string code_of(const std::string& cubin, const std::string& entry) {
    const auto at = [&](std::size_t offset, auto value) {
        if (offset + sizeof value > cubin.size()) return decltype(value){};
        std::memcpy(&value, cubin.data() + offset, sizeof value);
        return value;
    };
    const auto sections = at(0x28, std::uint64_t{});
    const std::size_t size = at(0x3a, std::uint16_t{}), count = at(0x3c, std::uint16_t{}),
                      names = at(0x3e, std::uint16_t{});
    const auto text = at(sections + names * size + 0x18, std::uint64_t{});
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t head = sections + i * size;
        const char* name = cubin.c_str() + text + at(head, std::uint32_t{});
        if (".text." + entry == name)
            return cubin.substr(at(head + 0x18, std::uint64_t{}), at(head + 0x20, std::uint64_t{}));
    }
    return {};
}

struct Instruction {
    std::uint64_t address = 0;
    std::string name;  // "FFMA", "LDG.E.128.STRONG.GPU"
    std::string operands;
};
using Instructions = std::vector<Instruction>;

inline Instructions parse_disassembly(const std::string& text) {
    static const std::regex kLine(
        R"(^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P[T0-9]+\s+)?([A-Z][A-Za-z0-9_.]*)\s*([^;]*);)");
    Instructions all;
    std::istringstream lines(text);
    std::smatch match;
    for (std::string line; std::getline(lines, line);)
        if (std::regex_search(line, match, kLine))
            all.push_back({std::stoull(match[1], nullptr, 16), match[2], match[3]});
    return all;
}

// Disassembles the codes one after the other in one run: nvdisasm takes half a second to start.
inline std::vector<Instructions> disassemble(const std::string& nvdisasm, const std::string& architecture,
                                             const std::vector<std::string>& codes, const std::string& folder) {
    const std::string file = folder + "/" + architecture + ".bin";
    std::ofstream out(file, std::ios::binary);
    for (const std::string& code : codes) out << code;
    out.close();
    std::string text;
    FILE* pipe = popen(("'" + nvdisasm + "' --binary " + architecture + " '" + file + "' 2>&1").c_str(), "r");
    if (pipe == nullptr) return {};
    char buffer[1 << 16];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
    if (pclose(pipe) != 0) return {};
    std::vector<Instructions> all(codes.size());
    std::uint64_t begin = 0;
    std::size_t at = 0;
    for (Instruction& instruction : parse_disassembly(text)) {
        while (at < codes.size() && instruction.address >= begin + codes[at].size()) begin += codes[at++].size();
        if (at < codes.size()) all[at].push_back(std::move(instruction));
    }
    return all;
}

inline std::size_t count_matching(const Instructions& code, const std::regex& name) {
    std::size_t count = 0;
    for (const Instruction& instruction : code) count += std::regex_search(instruction.name, name) ? 1 : 0;
    return count;
}

// The loop with most of `name` in it, without NOPs: from the target of a branch backwards to that branch. Not counted:
// branches back from code put out of line, behind the kernel's end; and BRA.U.ANY, which repeats one instruction for
// threads that differ.
inline Instructions hot_loop(const Instructions& code, const std::regex& name) {
    static const std::regex kTarget(R"(0x([0-9a-f]+)\s*$)");
    Instructions best;
    std::smatch match;
    for (std::size_t i = 0; i < code.size(); ++i) {
        if (!code[i].name.starts_with("BRA") || code[i].name.find(".ANY") != std::string::npos) continue;
        if (!std::regex_search(code[i].operands, match, kTarget)) continue;
        const std::uint64_t target = std::stoull(match[1], nullptr, 16);
        if (target >= code[i].address) continue;
        Instructions loop;
        for (std::size_t j = 0; j <= i; ++j)
            if (code[j].address >= target && code[j].name != "NOP") loop.push_back(code[j]);
        if (count_matching(loop, std::regex("^EXIT")) > 0) continue;
        if (count_matching(loop, name) > count_matching(best, name)) best = loop;
    }
    return best;
}

}  // namespace gambrel::measure_detail
