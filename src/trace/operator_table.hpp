// What operators of frameworks compute, as data (data/operators): which arguments are read, what is written, how many
// FLOP; and which kernels communicate. docs/formats.md has the fields.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/base.hpp>

namespace gambrel::trace_detail {

// What one kernel reads and writes: numbers of arguments, of which one may occur twice. `write` is a number of
// arguments or a word: broadcast, first, reduce, list, pool, size, gather, grid, none.
struct StreamRule {
    std::vector<int> read;
    std::vector<int> write_arguments;
    std::string write = "none";
    std::string out_type;  // "" : that of what is read
    double flop = 0;       // for each element of the largest tensor
};

struct OperatorRule {
    enum class Kind : std::uint8_t { stream, gemm, convolution, attention, grouped, experts };
    Kind kind = Kind::stream;
    StreamRule stream;
    // Of the others: the number of each argument by its name ("a", "weight", "stride", "query", "causal").
    std::map<std::string, int, std::less<>> at;
    std::string pass = "fwd";     // fwd, dgrad, wgrad; both: the kernel tells
    std::string layout = "bhsd";  // of attention: batch, heads, sequence, size of a head; thd: packed sequences
    bool b_transposed = false;    // of a GEMM: B is stored n x k
    int b_packed = 0;             // of a GEMM: weights of four bits in an element of B, in an order of the kernel's own
    // Kernels of the operator that do a part of it, by a part of their names; the first that fits.
    std::vector<std::pair<std::string, StreamRule>> kernels;

    [[nodiscard]] int argument(std::string_view name) const {
        const auto it = at.find(name);
        return it == at.end() ? -1 : it->second;
    }
};

class OperatorTable {
public:
    // The built-in tables, then these files; a later rule for a name replaces an earlier one.
    static Result<OperatorTable> load(const std::vector<std::string>& files);
    [[nodiscard]] const OperatorRule* find(std::string_view op) const;
    [[nodiscard]] bool is_communication(std::string_view kernel) const;
    [[nodiscard]] double flop_of_word(std::string_view word) const;  // in the name of a fused kernel

private:
    void add(std::string_view text, const std::string& source, Errors& errors);
    std::vector<OperatorRule> rules_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::vector<std::pair<std::string, std::size_t>> by_prefix_;
    std::vector<std::string> communication_;
    std::unordered_map<std::string, double> words_;
};

}  // namespace gambrel::trace_detail
