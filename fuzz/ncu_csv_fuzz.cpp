// Any bytes are a Profile whose launches lie inside its values, or Errors.
#include <cstdint>

#include "table_check.hpp"

using namespace gambrel::ingest_detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const MetricSet metrics =
        metric_set({"m1", "m2", "dram__bytes.sum", "gpu__time_duration.sum", "SM Frequency"});
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_table(read_ncu_csv(text, {"fuzz.csv", metrics, {}}), text, is_ncu_csv(text), metrics);
    return 0;
}
