#include "machine/machine_names.hpp"

#include "machine/top_level_reader.hpp"

namespace gambrel::machine_detail {
namespace {

class NameReader final : public TopLevelReader {
public:
    MachineNames found;

private:
    bool take(const std::string& key, std::string& text) override {
        if (key == "id") found.id = text;
        if (key == "name") found.name = text;
        if (key == "aliases") found.aliases.push_back(text);
        return !complete();
    }
    bool list_ended(const std::string& key) override {
        aliases_read_ |= key == "aliases";
        return !complete();
    }
    [[nodiscard]] bool complete() const { return aliases_read_ && !found.id.empty() && !found.name.empty(); }

    bool aliases_read_ = false;
};

}  // namespace

std::vector<std::string> MachineNames::all() const {
    std::vector<std::string> names{id, name};
    names.insert(names.end(), aliases.begin(), aliases.end());
    return names;
}

MachineNames machine_names(std::string_view json) {
    NameReader reader;
    nlohmann::json::sax_parse(json, &reader);
    return std::move(reader.found);
}

}  // namespace gambrel::machine_detail
