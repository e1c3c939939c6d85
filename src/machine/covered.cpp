#include "machine/covered.hpp"

#include "machine/top_level_reader.hpp"

namespace gambrel::machine_detail {
namespace {

// The list of compute capabilities.
class CoveredReader final : public TopLevelReader {
public:
    std::vector<ComputeCapability> found;

private:
    static bool is_list(const std::string& key) { return key == "compute_capabilities"; }
    bool take(const std::string& key, std::string& text) override {
        if (const auto one = is_list(key) ? parse_compute_capability(text) : std::nullopt) found.push_back(*one);
        return true;
    }
    bool list_ended(const std::string& key) override { return !is_list(key); }
};

}  // namespace

std::vector<ComputeCapability> covered_capabilities(std::string_view json) {
    CoveredReader reader;
    nlohmann::json::sax_parse(json, &reader);
    return std::move(reader.found);
}

}  // namespace gambrel::machine_detail
