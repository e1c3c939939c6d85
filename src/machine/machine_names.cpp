#include "machine/machine_names.hpp"

#include <nlohmann/json.hpp>

namespace gambrel::machine_detail {
namespace {

// Takes the three keys at the top of the file and then ends the parse by returning false.
class NameReader : public nlohmann::json_sax<nlohmann::json> {
public:
    MachineNames found;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool string(string_t& text) override {
        if (depth_ == 1 && key_ == "id") found.id = text;
        if (depth_ == 1 && key_ == "name") found.name = text;
        if (depth_ == 2 && in_aliases_) found.aliases.push_back(text);
        return !complete();
    }
    bool start_object(std::size_t) override { return ++depth_ > 0; }
    bool end_object() override { return --depth_ >= 0; }
    bool start_array(std::size_t) override {
        in_aliases_ = ++depth_ == 2 && key_ == "aliases";
        return true;
    }
    bool end_array() override {
        aliases_read_ |= in_aliases_ && depth_ == 2;
        if (--depth_ < 2) in_aliases_ = false;
        return !complete();
    }
    bool key(string_t& text) override {
        if (depth_ == 1) key_ = text;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

private:
    [[nodiscard]] bool complete() const { return aliases_read_ && !found.id.empty() && !found.name.empty(); }

    int depth_ = 0;
    std::string key_;
    bool in_aliases_ = false, aliases_read_ = false;
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
