// Words that repeat from row to row of a table, with what they meant: looked up, not read again. What is remembered is
// bounded, and a word that is forgotten is only read once more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <gambrel/layer.hpp>

#include "network/layer_columns.hpp"

namespace gambrel::network_detail {

template <class Meaning, std::size_t Places = 16>
class Remembered {
public:
    template <class Read>
    const Meaning& of(std::string_view word, const Read& read) {
        Known& known = known_[place_of(word) % Places];
        if (!known.used || known.word != word) {
            known.meaning = read(word);
            known.word = word;
            known.used = true;
        }
        return known.meaning;
    }

private:
    // Most words are short. Names of kernels differ somewhere in their middle, so four parts of them are mixed, which
    // together are all of most names.
    static std::size_t place_of(std::string_view word) {
        if (word.empty()) return 0;
        if (word.size() <= 12) return word.size() * 7 + static_cast<unsigned char>(word.back());
        std::uint64_t mixed = word.size();
        const std::size_t last = word.size() - sizeof mixed;
        for (const std::size_t at : {std::size_t{0}, last / 3, last - last / 3, last}) {
            std::uint64_t part = 0;
            std::memcpy(&part, word.data() + at, sizeof part);
            mixed = (mixed ^ part) * 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio
            mixed ^= mixed >> 32;
        }
        return mixed;
    }
    struct Known {
        std::string word;
        Meaning meaning{};
        bool used = false;
    };
    std::array<Known, Places> known_;
};

struct Storage {
    Precision precision = Precision::fp32;
    std::optional<Precision> math;
    std::optional<bool> tensor_core;
    std::optional<Precision> weights = {};
};
struct Operation {
    std::optional<OperatorKind> kind;  // none: it is not known
    bool linear = false;
    std::optional<Pass> pass;  // that its name ends with
};
struct KernelWords {
    bool tensor_core = false, nhwc = false;
};

struct RowMemo {
    Remembered<Operation> operations;
    Remembered<std::optional<Storage>> storage;
    Remembered<std::optional<Timing>> software;
    Remembered<std::optional<Layout>> layouts;
    Remembered<KernelWords, 256> words;  // of algorithms and kernels
};

}  // namespace gambrel::network_detail
