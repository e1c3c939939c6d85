// Words that repeat from row to row of a table, with what they meant: looked up, not read again. What is remembered is
// bounded, and a word that is forgotten is only read once more.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <gambrel/layer.hpp>

#include "base/word_hash.hpp"
#include "network/layer_columns.hpp"

namespace gambrel::network_detail {

template <class Meaning, std::size_t Places = 16>
class Remembered {
public:
    template <class Read>
    const Meaning& of(std::string_view word, const Read& read) {
        Known& known = known_[base_detail::word_hash(word) % Places];
        if (!known.used || known.word != word) {
            known.meaning = read(word);
            known.word = word;
            known.used = true;
        }
        return known.meaning;
    }

private:
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
    std::string_view algorithm;  // as cuDNN writes the name; empty: the text is no such name alone
};

struct RowMemo {
    Remembered<Operation> operations;
    Remembered<std::optional<Storage>> storage;
    Remembered<std::optional<Timing>> software;
    Remembered<std::optional<Layout>> layouts;
    Remembered<KernelWords, 256> words;  // of algorithms and kernels
};

}  // namespace gambrel::network_detail
