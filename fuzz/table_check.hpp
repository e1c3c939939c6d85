// What must hold of any bytes that a table reader takes: launches lie inside their values, alone and joined.
#pragma once

#include <cstdlib>
#include <initializer_list>

#include "ingest/join.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {

inline MetricSet metric_set(std::initializer_list<const char*> names) {
    MetricSet set;
    for (const char* name : names) set.add(name);
    return set;
}

inline void check(const Profile& profile, const MetricSet& metrics) {
    for (const Launch& launch : profile.launches) {
        if (launch.values > profile.values.size() || launch.first_value > profile.values.size() - launch.values)
            std::abort();
        if (launch.launches == 0) std::abort();
    }
    for (const MetricValue& value : profile.values)
        if (value.metric >= metrics.size()) std::abort();
}

// `claimed`: the format's own test accepts the text, so its reader was rightly called.
inline void check_table(const Result<Profile>& profile, std::string_view text, bool claimed, const MetricSet& metrics) {
    if (!profile) {
        if (profile.error().empty()) std::abort();
        return;
    }
    if (!claimed && text.substr(0, 4096).find('\0') == std::string_view::npos) std::abort();
    check(*profile, metrics);
    Profile other = *profile;
    for (MetricValue& value : other.values) value.metric = (value.metric + 1) % static_cast<MetricId>(metrics.size());
    other.source = "other.csv";
    Errors notes;
    for (const Profile& joint : joined({*profile, other}, notes)) check(joint, metrics);
}

}  // namespace gambrel::ingest_detail
