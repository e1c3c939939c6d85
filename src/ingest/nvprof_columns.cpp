#include "ingest/nvprof_columns.hpp"

#include <utility>

namespace gambrel::ingest_detail {

namespace {

// A trace heads the columns of metrics with their descriptions; these are the ones a Roofline is made of.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kDescriptions = {{
    {"Floating Point Operations(Double Precision)", "flop_count_dp"},
    {"Floating Point Operations(Single Precision)", "flop_count_sp"},
    {"Floating Point Operations(Half Precision)", "flop_count_hp"},
    {"Global Load Transactions", "gld_transactions"},
    {"Global Store Transactions", "gst_transactions"},
    {"Atomic Transactions", "atomic_transactions"},
    {"Local Load Transactions", "local_load_transactions"},
    {"Local Store Transactions", "local_store_transactions"},
    {"Shared Load Transactions", "shared_load_transactions"},
    {"Shared Store Transactions", "shared_store_transactions"},
    {"L2 Read Transactions", "l2_read_transactions"},
    {"L2 Write Transactions", "l2_write_transactions"},
    {"Device Memory Read Transactions", "dram_read_transactions"},
    {"Device Memory Write Transactions", "dram_write_transactions"},
    {"System Memory Read Transactions", "sysmem_read_transactions"},
    {"System Memory Write Transactions", "sysmem_write_transactions"},
    {"Device Memory Read Throughput", "dram_read_throughput"},
    {"Device Memory Write Throughput", "dram_write_throughput"},
    {"Total bytes read from DRAM to L2 cache", "dram_read_bytes"},
    {"Total bytes written from L2 cache to DRAM", "dram_write_bytes"},
    {"Instructions Executed", "inst_executed"},
}};

std::size_t either(const CsvHeader& header, std::string_view a, std::string_view b) {
    const std::size_t found = header.find(a);
    return found == CsvHeader::npos ? header.find(b) : found;
}

}  // namespace

std::optional<NvprofColumns> nvprof_columns(const CsvHeader& header) {
    NvprofColumns c;
    constexpr std::size_t npos = CsvHeader::npos;
    c.count = header.columns.size();
    c.name = either(header, "Kernel", "Name");
    c.device = header.find("Device");
    c.times = either(header, "Invocations", "Calls");
    c.metric = either(header, "Metric Name", "Event Name");
    c.average = header.find("Avg");
    c.type = header.find("Type");
    c.duration = header.find("Duration");
    if (c.name == npos) return std::nullopt;
    if (c.times != npos) {
        if (c.average == npos) return std::nullopt;
        c.table = c.metric == npos ? NvprofTable::timing : NvprofTable::metrics;
        if (c.table == NvprofTable::timing && !header.has("Time(%)") && !header.has("Time")) return std::nullopt;
        return c;
    }
    c.table = NvprofTable::trace;
    constexpr std::array<std::string_view, 6> kShape = {"Grid X", "Grid Y", "Grid Z", "Block X", "Block Y", "Block Z"};
    for (std::size_t i = 0; i < kShape.size(); ++i) c.shape[i] = header.find(kShape[i]);
    const bool placed = c.device != npos && header.has("Context") && header.has("Stream");
    // "Start","Duration","Name" alone is a trace of API calls.
    if (!placed && (c.duration == npos || !header.has("Start") || c.shape[0] == npos)) return std::nullopt;
    return c;
}

std::string_view nvprof_metric(std::string_view column) {
    for (const auto& [description, name] : kDescriptions) {
        if (column == description) return name;
    }
    return column;
}

}  // namespace gambrel::ingest_detail
