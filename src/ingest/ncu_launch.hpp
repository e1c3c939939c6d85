// Result items of an Nsight Compute report to Launches. Invariant: of a launch, only metrics that are wanted, each
// once, the last value written; a result that cannot be decoded keeps its name and a fault, but none of its values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/ncu_container.hpp"
#include "ingest/ncu_facts.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {

class NcuLaunchReader {
public:
    NcuLaunchReader(const NcuContainer& container, const ReadRequest& request, DamageLog& damage);

    // While a result is read, the memory is asked for that the `next` one will be read from: a result is a chain of
    // lengths, and the reader would wait for memory behind every long field. Empty: there is none.
    void read(const NcuItem& item, std::string_view next, Profile& profile);

    // Metrics met whose NameId no string table of the file knows.
    [[nodiscard]] std::uint64_t nameless() const { return nameless_; }

private:
    struct Slot {
        MetricId metric = kNoMetric;
        NcuFact fact = NcuFact::none;
        [[nodiscard]] bool wanted() const { return metric != kNoMetric || fact != NcuFact::none; }
    };
    struct KnownName {  // met before: spares asking the filter, a regex over a long name, once per launch
        Symbol symbol;
        bool keep = true;
    };
    struct SessionDevice {
        std::uint64_t id = 0;
        Symbol name;
        NcuFacts facts;
        std::vector<MetricValue> values;
    };
    struct Draft;

    void add_device(const NcuDevice& device);
    void read_kernel(std::string_view bytes, Draft& draft);
    void read_range(const NcuItem& item, Draft& draft);
    std::string_view after_plain_metrics(std::string_view result, std::string_view rest, Draft& draft);
    void read_metric(std::string_view bytes, Draft& draft);
    void take(const Slot& slot, double number, Draft& draft);
    void set_value(MetricId metric, double value);
    const KnownName& known_name(std::string_view name);
    void finish(const Draft& draft, Launch& launch, Profile& profile);
    [[nodiscard]] const SessionDevice* device_of(const Draft& draft) const;

    const ReadRequest& request_;
    DamageLog& damage_;
    bool grid_counts_threads_;
    std::vector<Slot> slots_;  // by NameId
    std::vector<SessionDevice> devices_;
    std::unordered_map<std::string_view, KnownName> names_;
    std::array<std::uint32_t, kNcuItemKinds> met_{};
    std::uint64_t nameless_ = 0;

    // Of the launch being read: values by MetricId, valid where the stamp is this launch's, and the order they came in.
    std::vector<double> values_;
    std::vector<std::uint32_t> stamps_;
    std::vector<MetricId> order_;
    std::uint32_t stamp_ = 0;
    std::string_view next_;  // the result after it
};

}  // namespace gambrel::ingest_detail
