// Charts and tables as the page's scripts read them (web/data.ts); report/page_shape.cpp says what they expect.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <gambrel/chart.hpp>

namespace gambrel::chart_detail {

nlohmann::ordered_json page_json(const Chart& chart);
nlohmann::ordered_json page_json(const BarChart& chart);
nlohmann::ordered_json page_json(const Table& table);

}  // namespace gambrel::chart_detail
