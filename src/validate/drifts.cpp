// Host time that grows along the rows of a GPU, found and added to their predictions.
#include <map>

#include "validate/drifts.hpp"

namespace gambrel::validate_detail {
namespace {

constexpr auto kTime = static_cast<std::size_t>(ValidatedQuantity::time);
constexpr auto kOurs = static_cast<std::size_t>(EstimateSource::gambrel);

}  // namespace

Places places_of_calls(const LayerTable& table) {
    std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> lines;  // by GPU and kind of operator
    for (const LayerRow& row : table.rows)
        if (row.layers.size() == 1 && timing_of(row.layers.front().hints) == Timing::framework)
            lines[{row.layers.front().hints.gpu, row.layers.front().op.index()}].push_back(row.line);
    Places places;
    for (const auto& [key, of_gpu] : lines)
        for (std::size_t i = 0; i < of_gpu.size(); ++i)
            places[of_gpu[i]] = static_cast<double>(i) / std::max<double>(1, static_cast<double>(of_gpu.size()) - 1);
    return places;
}

std::vector<FoundDrift> add_drifts(const Places& places, std::vector<ValidationRow>& rows) {
    std::map<std::pair<std::string, std::string>, std::vector<ValidationRow*>> groups;
    for (ValidationRow& row : rows)
        if (places.contains(row.line) && row.ratio(ValidatedQuantity::time, EstimateSource::gambrel))
            groups[{row.gpu, row.op}].push_back(&row);
    std::vector<FoundDrift> found;
    for (const auto& [key, members] : groups) {
        std::vector<TimedCall> calls;
        for (const ValidationRow* row : members)
            calls.push_back(
                {places.at(row->line), Seconds{row->measured[kTime]}, Seconds{row->predicted[kOurs][kTime]}});
        const auto drift = host_drift(calls);
        if (!drift) continue;
        for (ValidationRow* row : members) {
            const double more = drift->at(places.at(row->line)).value();
            for (double* time : {&row->predicted[kOurs][kTime], &row->time_low, &row->time_high})
                *time = std::max(0.0, *time + more);
        }
        found.push_back({key.first, key.second, members.size(), *drift});
    }
    return found;
}

}  // namespace gambrel::validate_detail
