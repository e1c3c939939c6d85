// Any bytes are a Profile whose launches lie inside its values, or Errors. Reading twice gives the same.
#include <cstdint>
#include <cstdlib>

#include "ingest/join.hpp"
#include "ingest/readers.hpp"

using namespace gambrel;
using namespace gambrel::ingest_detail;

namespace {

const MetricSet& metrics() {
    static const MetricSet set = [] {
        MetricSet m;
        for (const char* name : {"nvprof:time", "nvprof:m1", "nvprof:gld_transactions"}) m.add(name);
        return m;
    }();
    return set;
}

void check(const Profile& profile) {
    for (const Launch& launch : profile.launches) {
        if (launch.values > profile.values.size() || launch.first_value > profile.values.size() - launch.values)
            std::abort();
        if (launch.launches == 0) std::abort();
    }
    for (const MetricValue& value : profile.values) {
        if (value.metric >= metrics().size()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const bool ours = is_nvprof_csv(text);
    const auto profile = read_nvprof_csv(text, {"fuzz.csv", metrics(), {}});
    if (!profile) {
        if (profile.error().empty()) std::abort();
        return 0;
    }
    // A text with tables of both tools is ncu's.
    if (!ours && !is_ncu_csv(text) && text.substr(0, 4096).find('\0') == std::string_view::npos) std::abort();
    check(*profile);
    Profile other = *profile;
    for (MetricValue& value : other.values) value.metric = (value.metric + 1) % static_cast<MetricId>(metrics().size());
    other.source = "other.csv";
    Errors notes;
    for (const Profile& joint : joined({*profile, other}, notes)) check(joint);
    return 0;
}
