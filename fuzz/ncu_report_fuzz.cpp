// Any bytes after the magic: no crash, no endless loop, and views and counts that hold together.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/readers.hpp"

using namespace gambrel::ingest_detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const MetricSet metrics = [] {
        MetricSet wanted;
        for (const char* name :
             {"gpu__time_duration.sum", "dram__bytes.sum", "dram__bytes_read.sum", "lts__t_bytes.sum",
              "sm__cycles_elapsed.avg.per_second", "device__attribute_multiprocessor_count",
              "device__attribute_display_name", "launch__grid_size"})
            wanted.add(name);
        return wanted;
    }();
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (!is_ncu_report(bytes)) return 0;
    const auto profile = read_ncu_report(bytes, {"fuzz.ncu-rep", metrics, {}});
    if (!profile) return 0;
    for (const Launch& launch : profile->launches) {
        if (launch.name.empty()) std::abort();
        if (launch.first_value + launch.values > profile->values.size()) std::abort();
    }
    return 0;
}
