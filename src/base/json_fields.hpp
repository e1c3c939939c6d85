// Reading a JSON object field by field with all faults collected: unknown keys, wrong types, missing fields.
// Invariant: after finish(), every key of the object was asked for or is reported with the nearest known name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <nlohmann/json.hpp>

namespace gambrel::base_detail {

class Fields {
public:
    // `path` is put before each key: "h100.json: " or "h100.json: levels[1]". Outlived by `object` and `errors`.
    Fields(const nlohmann::json& object, std::string path, Errors& errors);

    // Each is empty or absent if the field is; `required` makes absence a fault.
    const nlohmann::json* any(const std::string& key, bool required = false);
    std::string text(const std::string& key, bool required = false);
    std::vector<std::string> texts(const std::string& key);
    std::optional<double> amount(const std::string& key, bool required = false);  // finite, 0 or more
    const nlohmann::json* object(const std::string& key, bool required = false);
    const nlohmann::json* array(const std::string& key, bool required = false);

    void fault(const std::string& key, std::string what) const;
    [[nodiscard]] std::string path_of(const std::string& key) const;
    void finish();

protected:
    [[nodiscard]] Errors& errors() const { return errors_; }

private:
    const nlohmann::json* object_;
    std::string path_;
    Errors& errors_;
    std::vector<std::string> known_;
};

}  // namespace gambrel::base_detail
