// Words that repeat from row to row of a table, with what they meant: looked up, not read again. What is remembered is
// bounded, and a word that is forgotten is only read once more.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <gambrel/layer.hpp>

#include "base/word_hash.hpp"
#include "network/layer_columns.hpp"

namespace gambrel::network_detail {

template <class Meaning, std::size_t Places = 8>
class Remembered {
public:
    template <class Read>
    const Meaning& of(std::string_view word, const Read& read) {
        Place& place = known_[base_detail::word_hash(word) % Places];
        for (const Known& known : place.words)
            if (known.is(word)) return known.meaning;
        Known& known = place.words[place.oldest];
        place.oldest = 1 - place.oldest;
        known.meaning = read(word);
        known.word = word;
        known.used = true;
        return known.meaning;
    }

private:
    struct Known {
        std::string word;
        Meaning meaning{};
        bool used = false;
        [[nodiscard]] bool is(std::string_view other) const {
            return used && word.size() == other.size() && std::equal(other.begin(), other.end(), word.begin());
        }
    };
    // Two words share a place, so that they do not push each other out by turns.
    struct Place {
        std::array<Known, 2> words;
        std::size_t oldest = 0;
    };
    std::array<Place, Places> known_;
};

struct Storage {
    Precision precision = Precision::fp32;
    std::optional<Precision> math;
    std::optional<bool> tensor_core;
    std::optional<Precision> weights = {};
    bool base_clock = false;  // of the benchmark that writes it so
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

// Tables have many convolutions several times in a row: by one algorithm after the other. Where the cells of the shape
// are byte for byte those of the row before, they are not read again.
class RememberedShape {
public:
    [[nodiscard]] const Convolution* of(std::string_view cells) const {
        const bool same =
            !cells.empty() && cells.size() == cells_.size() && std::equal(cells.begin(), cells.end(), cells_.begin());
        return same ? &shape_ : nullptr;
    }
    // Cells without quotes are what commas divide the text into. Those of a shape are a few digits each; between them
    // may stand others, whose text is not worth keeping.
    void keep(std::string_view cells, const Convolution& shape) {
        constexpr std::size_t kLongest = 128;
        cells_.clear();
        if (cells.size() > kLongest || cells.find('"') != std::string_view::npos) return;
        cells_ = cells;
        shape_ = shape;
    }

private:
    std::string cells_;
    Convolution shape_;
};

struct RowMemo {
    Remembered<Operation> operations;
    Remembered<std::optional<Storage>> storage;
    Remembered<std::optional<Timing>> software;
    Remembered<std::optional<Layout>> layouts;
    Remembered<KernelWords, 128> words;  // of algorithms and kernels
    RememberedShape shape;
};

}  // namespace gambrel::network_detail
