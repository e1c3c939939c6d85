// The result as ERT's roofline.json (version 1.1.0): what tools made for it read. Names are ERT's own forms: "FP64
// GFLOPs", "L1" to "DRAM"; numbers are 1e9. What ERT has no word for (shared memory, latency) is left out.
#include <cmath>

#include <nlohmann/json.hpp>

#include <gambrel/report.hpp>
#include <gambrel/version.hpp>

namespace gambrel {
namespace {

using Json = nlohmann::ordered_json;

double hundredths(double value) { return std::round(value / 1e9 * 100) / 100; }

Json row(const std::string& what, double value) { return Json::array({what, hundredths(value)}); }

}  // namespace

std::string ert_json(const Measurement& m) {
    Json gflops = Json::array(), gbytes = Json::array(), spec_flops = Json::array(), spec_bytes = Json::array();
    for (const Pipe pipe : all_pipes())
        for (const MeasuredCeiling& c : m.ceilings) {
            if (!c.primary || c.pipe != pipe || is_integer(pipe)) continue;
            const std::string what = std::string(title(pipe)) + " GFLOPs";
            gflops.push_back(row(what, c.value.median));
            if (c.theoretical) spec_flops.push_back(row(what, *c.theoretical));
        }
    for (const Level level : all_levels())
        for (const MeasuredCeiling& c : m.ceilings) {
            if (!c.primary || c.level != level || level == Level::shared) continue;
            gbytes.push_back(row(std::string(name(level)), c.value.median));
            if (c.theoretical) spec_bytes.push_back(row(std::string(name(level)), *c.theoretical));
        }
    const Json metadata{{"GAMBREL_VERSION", std::string(kVersion)},
                        {"HOSTNAME", m.device.id},
                        {"DEVICE", m.device.name},
                        {"DETAIL", m.device.detail},
                        {"TIMESTAMP", m.date},
                        {"PARTIAL", m.interrupted}};
    const Json out{{"empirical",
                    {{"metadata", metadata},
                     {"gflops", {{"data", gflops}, {"metadata", Json::object()}}},
                     {"gbytes", {{"data", gbytes}, {"metadata", Json::object()}}}}},
                   {"spec", {{"gflops", {{"data", spec_flops}}}, {"gbytes", {{"data", spec_bytes}}}}}};
    return out.dump(3, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gambrel
