#include "ingest/value_reader.hpp"

#include <fmt/format.h>

namespace gambrel::ingest_detail {

const MetricCell& ValueReader::cell(std::string_view name, std::string_view unit) {
    const auto is = [&](const MetricCell& c) { return c.name == name && c.unit == unit; };
    if (next_ < cells_.size() && is(cells_[next_])) return cells_[next_++];
    constexpr std::size_t kMost = 4096;  // far above the metrics of one launch; a hostile file must not fill memory
    if (next_ >= kMost) return other_ = look_up(name, unit);
    if (next_ < cells_.size())
        cells_[next_] = look_up(name, unit);
    else
        cells_.push_back(look_up(name, unit));
    return cells_[next_++];
}

MetricCell ValueReader::look_up(std::string_view name, std::string_view unit) {
    MetricCell cell{std::string(name), std::string(unit), metrics_.find(name)};
    cell.names_device = name == "device__attribute_display_name";
    if (cell.metric == kNoMetric) return cell;
    if (const auto factor = base_unit_factor(unit)) {
        cell.factor = *factor;
    } else {
        notes_.add_once("unit " + cell.unit,
                        fmt::format("unit \"{}\" of {} is not known; its values are kept as they stand", unit, name));
    }
    return cell;
}

std::optional<double> ValueReader::value(const MetricCell& cell, std::string_view text) {
    const NumberText number = number_from(text, mark_);
    vote_.count(number);
    switch (number.kind) {
        case NumberText::Kind::missing:
            return std::nullopt;
        case NumberText::Kind::not_a_number:
            return number.value;
        case NumberText::Kind::number:
            if (number.length == text.size()) return number.value * cell.factor;
            [[fallthrough]];
        case NumberText::Kind::malformed:
            break;
    }
    notes_.add_once("value " + cell.name,
                    fmt::format("{}: \"{}\" is not a number; it is read as nan", cell.name, text.substr(0, 60)));
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gambrel::ingest_detail
