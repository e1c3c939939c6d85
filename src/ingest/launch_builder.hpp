// What the CSV readers share: launches that may be filled in any order, values with locale and unit, notes that stay
// few. Invariant: after finish() the values of a launch are contiguous, in file order, and a metric stands once per
// launch. It parses no table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ingest/metric_units.hpp"
#include "ingest/number_text.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {

class LaunchBuilder {
public:
    LaunchBuilder(Profile& profile, const ReadRequest& request) : profile_(profile), request_(request) {}

    struct Name {
        Symbol symbol;
        bool kept = true;
    };
    // Interns the name and asks the user's filter, once for each distinct name.
    const Name& name(std::string_view text);

    std::size_t add(Launch launch);
    [[nodiscard]] Launch& at(std::size_t launch) { return profile_.launches[launch]; }
    void add_value(std::size_t launch, MetricId metric, double value) {
        in_order_ = in_order_ && (pending_.empty() || pending_.back().launch <= launch);
        pending_.push_back({static_cast<std::uint32_t>(launch), {metric, value}});
    }
    void count_filtered() { ++profile_.filtered_launches; }
    void finish();

private:
    struct Pending {
        std::uint32_t launch;
        MetricValue value;
    };
    Profile& profile_;
    const ReadRequest& request_;
    std::unordered_map<std::string_view, Name> names_;  // keys are texts of Symbols, which live for ever
    std::vector<Pending> pending_;
    bool in_order_ = true;
};

// Notes about rows of one file: the first few in full, the others as a number.
class RowNotes {
public:
    explicit RowNotes(std::string source) : source_(std::move(source)) {}
    void add(std::size_t line, std::string what);
    // The same where values were lost, as at the end of a file that is cut short.
    void lose(std::size_t line, std::string what) {
        lost_ = true;
        add(line, std::move(what));
    }
    void add_once(const std::string& key, std::string what);  // about the file, said once for each key
    void finish(Profile& profile);

private:
    std::string source_;
    std::vector<Error> notes_;
    std::unordered_set<std::string> said_;
    std::uint64_t rows_ = 0;
    bool lost_ = false;
};

// "(128, 1, 1)" or "128, 1, 1" or "128x1x1" to three numbers; empty if it is not that or names no thread at all.
std::optional<std::array<std::uint32_t, 3>> dim3_from(std::string_view text);
std::optional<LaunchShape> shape_from(std::string_view grid, std::string_view block);

// What a file without a table says of itself: its first ==ERROR== line, else its first line.
std::string first_words(std::string_view text);

}  // namespace gambrel::ingest_detail
