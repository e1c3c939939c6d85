// What the fuzz targets of all readers demand: any bytes give a Profile or Errors, and a Profile whose launches own
// values that are there.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ingest/profile.hpp"
#include "ingest/readers.hpp"

namespace gambrel::fuzz {

using Recognises = bool (*)(std::string_view);
using Reads = Result<ingest_detail::Profile> (*)(std::string_view, const ingest_detail::ReadRequest&);

inline const ingest_detail::MetricSet& wanted() {
    static const ingest_detail::MetricSet metrics = [] {
        ingest_detail::MetricSet set;
        for (const char* name :
             {"gpu__time_duration.sum", "sm__cycles_elapsed.avg.per_second", "dram__bytes.sum", "lts__t_bytes.sum",
              "l1tex__t_bytes.sum", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "launch__grid_size",
              "flop_count_sp", "dram_read_transactions"})
            set.add(name);
        return set;
    }();
    return metrics;
}

inline int run(const std::uint8_t* data, std::size_t size, Recognises recognises, Reads reads) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (!recognises(bytes)) return 0;
    const auto profile = reads(bytes, {"fuzz", wanted(), {}});
    if (!profile) {
        if (profile.error().empty()) std::abort();
        return 0;
    }
    for (const ingest_detail::Launch& launch : profile->launches) {
        const std::size_t total = profile->values.size();
        if (launch.first_value > total || launch.values > total - launch.first_value) std::abort();
        for (std::size_t i = 0; i < launch.values; ++i)
            if (profile->values[launch.first_value + i].metric >= wanted().size()) std::abort();
    }
    return 0;
}

}  // namespace gambrel::fuzz
