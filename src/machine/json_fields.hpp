// Reading a JSON object field by field with all faults collected: unknown keys, missing units, wrong types.
// Invariant: after finish(), every key of the object was asked for or is reported with the nearest known name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <nlohmann/json.hpp>

namespace gambrel::machine_detail {

class Fields {
public:
    Fields(const nlohmann::json& object, std::string path, Errors& errors);

    // Absent or the string "unknown": no fact. `required` makes absence (not unknown) a fault.
    template <class Q>
    Fact<Q> quantity(const std::string& key, bool required = false);
    Fact<double> number(const std::string& key, bool required = false);
    // {"value": ..., "clock": ..., "origin": ..., "cite": ...}
    template <class Q>
    std::optional<AtClock<Q>> at_clock(const std::string& key);

    const nlohmann::json* any(const std::string& key, bool required = false) { return find(key, required); }
    std::string text(const std::string& key, bool required = false);
    std::vector<std::string> texts(const std::string& key);
    const nlohmann::json* object(const std::string& key, bool required = false);
    const nlohmann::json* array(const std::string& key, bool required = false);

    void fault(const std::string& key, std::string what) const;
    [[nodiscard]] std::string path_of(const std::string& key) const;
    void finish();

private:
    const nlohmann::json* find(const std::string& key, bool required);
    // The value, origin and cite of a fact; nullptr value if unknown or faulty.
    template <class Q>
    Fact<Q> fact(const nlohmann::json* field, const std::string& key, bool with_clock, std::optional<Frequency>* clock);

    const nlohmann::json* object_;
    std::string path_;
    Errors& errors_;
    std::vector<std::string> known_;
};

}  // namespace gambrel::machine_detail
