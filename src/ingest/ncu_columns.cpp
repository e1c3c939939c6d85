#include "ingest/ncu_columns.hpp"

#include <algorithm>

namespace gambrel::ingest_detail {

namespace {

void find_launch_columns(NcuColumns& c, const CsvHeader& header) {
    c.count = header.columns.size();
    c.id = header.find("ID");
    c.process = header.find("Process ID");
    c.context = header.find("Context");
    c.block = header.find("Block Size");
    c.grid = header.find("Grid Size");
    c.cc = header.find("CC");
    c.device_name = header.find("device__attribute_display_name");
    // The stack of the thread first: it nests. Start/stop ranges of the process are only known to overlap.
    for (const std::string_view kind : {"Push/Pop", "Start/Stop"}) {
        for (std::size_t i = 0; i < header.columns.size(); ++i) {
            if (header.columns[i].find(kind) != std::string::npos) c.nvtx.push_back(i);
        }
    }
}

std::size_t first_metric_column(const CsvHeader& header) {
    std::size_t first = header.columns.size();
    for (const std::string_view column : {"Section Name", "Body Item Label", "Metric Name", "Metric Unit",
                                          "Metric Value", "Minimum", "Maximum", "Average", "Rule Name"}) {
        first = std::min(first, header.find(column));
    }
    return first;
}

std::size_t last_launch_column(const NcuColumns& c) {
    std::size_t last = c.name;
    for (const std::size_t i : {c.id, c.process, c.context, c.block, c.grid, c.cc, c.invocations, c.device_name}) {
        if (i != NcuColumns::npos) last = std::max(last, i);
    }
    for (const std::size_t i : c.nvtx) last = std::max(last, i);
    return last;
}

std::string_view range_message(std::string_view range) {
    const std::size_t domain = range.find(':');
    if (domain == std::string_view::npos) return range;
    std::string_view message = range.substr(domain + 1);
    // Behind the message stand payload, colour and message type and value: six fields. The message may hold colons.
    std::string_view shorter = message;
    for (int i = 0; i < 6; ++i) {
        const std::size_t colon = shorter.rfind(':');
        if (colon == std::string_view::npos) return message.substr(0, message.find(':'));
        shorter = shorter.substr(0, colon);
    }
    return shorter;
}

}  // namespace

std::optional<NcuColumns> ncu_columns(const CsvHeader& header) {
    NcuColumns c;
    c.name = header.find("Kernel Name");
    if (c.name == CsvHeader::npos) return std::nullopt;
    find_launch_columns(c, header);
    c.fewest_fields = c.count;
    c.metric = header.find("Metric Name");
    if (c.metric == CsvHeader::npos) {
        if (c.id == CsvHeader::npos) return std::nullopt;
        c.layout = NcuLayout::wide;
        return c;
    }
    c.unit = header.find("Metric Unit");
    c.value = header.find("Metric Value");
    c.invocations = header.find("Invocations");
    if (c.value == CsvHeader::npos) {
        c.layout = NcuLayout::summary;
        c.value = header.find("Average");
        if (c.value == CsvHeader::npos || c.invocations == CsvHeader::npos) return std::nullopt;
    }
    const std::size_t rule = header.find("Rule Name");
    const std::size_t last = std::max({c.metric, c.value, c.unit == CsvHeader::npos ? 0 : c.unit});
    if (rule != CsvHeader::npos && rule > last && rule > last_launch_column(c)) c.fewest_fields = rule;
    const std::size_t first = first_metric_column(header);
    c.launch_columns = last_launch_column(c) < first ? first : 0;
    return c;
}

std::vector<Symbol> nvtx_ranges(std::string_view cell) {
    std::vector<Symbol> ranges;
    const auto add = [&](std::string_view range) {
        const std::string_view message = range_message(range);
        if (!message.empty()) ranges.emplace_back(message);
    };
    std::size_t open = cell.find('"');
    if (open == std::string_view::npos) {
        const std::size_t first = cell.find_first_not_of(" \t");
        if (first != std::string_view::npos) add(cell.substr(first, cell.find_last_not_of(" \t") - first + 1));
        return ranges;
    }
    while (open != std::string_view::npos) {
        const std::size_t close = cell.find('"', open + 1);
        if (close == std::string_view::npos) break;
        add(cell.substr(open + 1, close - open - 1));
        open = cell.find('"', close + 1);
    }
    return ranges;
}

}  // namespace gambrel::ingest_detail
