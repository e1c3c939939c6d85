// A table of named columns, and the same table by the Arrow C stream interface, which pandas, polars, pyarrow and
// duckdb read without a library of Arrow's here. Invariant: all columns have one length; an absent value is a null.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gambrel::python {

using Texts = std::vector<std::optional<std::string>>;
using Numbers = std::vector<std::optional<double>>;
using Counts = std::vector<std::int64_t>;

struct Column {
    std::string name;
    std::variant<Texts, Numbers, Counts> values;
};

struct Table {
    std::vector<Column> columns;
    // One column from a function of each row.
    template <class Rows, class Of>
    void add(std::string name, const Rows& rows, Of of) {
        using Value = decltype(of(*rows.begin()));
        const auto fill = [&](auto values) {
            values.reserve(rows.size());
            for (const auto& row : rows) values.push_back(of(row));
            columns.push_back({std::move(name), std::move(values)});
        };
        if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, std::optional<std::string>>)
            fill(Texts{});
        else if constexpr (std::is_integral_v<Value>)
            fill(Counts{});
        else
            fill(Numbers{});
    }
};

// A new ArrowArrayStream of one batch, and how to free it: what a capsule named "arrow_array_stream" holds.
void* new_arrow_stream(const Table& table);
void free_arrow_stream(void* stream) noexcept;

}  // namespace gambrel::python
