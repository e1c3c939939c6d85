// The cells of a metric table to numbers in base units: metric names, unit texts and the file's decimal mark are looked
// up once and remembered. Invariant: what cannot be read is NaN and noted once, never dropped in silence. Knows no
// layout.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/launch_builder.hpp"

namespace gambrel::ingest_detail {

struct MetricCell {
    std::string name, unit;
    MetricId metric = kNoMetric;  // kNoMetric: nobody wants it
    double factor = 1;
    bool names_device = false;  // device__attribute_display_name: its value is a text
};

class ValueReader {
public:
    ValueReader(const MetricSet& metrics, RowNotes& notes, DecimalMark mark)
        : metrics_(metrics), notes_(notes), mark_(mark) {}

    // The metrics of one launch follow each other as they did in the launch before, so the next one is the first guess.
    const MetricCell& cell(std::string_view name, std::string_view unit);
    void begin_launch() { next_ = 0; }

    [[nodiscard]] MetricCell look_up(std::string_view name, std::string_view unit);
    // Empty if the cell is empty: the launch has no such value.
    std::optional<double> value(const MetricCell& cell, std::string_view text);
    // Counts a value that nobody wants, while nothing has yet shown the file's decimal mark.
    void count(std::string_view text) {
        if (vote_.open()) vote_.count(number_from(text, mark_));
    }
    [[nodiscard]] const DecimalVote& vote() const { return vote_; }

private:
    const MetricSet& metrics_;
    RowNotes& notes_;
    DecimalMark mark_;
    DecimalVote vote_;
    std::vector<MetricCell> cells_;
    MetricCell other_;
    std::size_t next_ = 0;
};

}  // namespace gambrel::ingest_detail
