// Any bytes are a Profile whose launches lie inside its values, or Errors.
#include <cstdint>

#include "table_check.hpp"

using namespace gambrel::ingest_detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const MetricSet metrics = metric_set({"nvprof:time", "nvprof:m1", "nvprof:gld_transactions"});
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // A text with tables of both tools is ncu's.
    const bool claimed = is_nvprof_csv(text) || is_ncu_csv(text);
    check_table(read_nvprof_csv(text, {"fuzz.csv", metrics, {}}), text, claimed, metrics);
    return 0;
}
