// The fields of a machine file: numbers with unit, origin and citation, on top of the plain reader of base.
#pragma once

#include <optional>
#include <string>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"

namespace gambrel::machine_detail {

class FactFields : public base_detail::Fields {
public:
    using Fields::Fields;

    // Absent or the string "unknown": no fact. `required` makes absence (not unknown) a fault.
    template <class Q>
    Fact<Q> quantity(const std::string& key, bool required = false);
    Fact<double> number(const std::string& key, bool required = false);
    // Of units that there is at least one of.
    Fact<double> count(const std::string& key, bool required = false);
    // {"value": ..., "clock": ..., "origin": ..., "cite": ...}
    template <class Q>
    std::optional<AtClock<Q>> at_clock(const std::string& key);

private:
    // The value, origin and cite of a fact; nullptr value if unknown or faulty.
    template <class Q>
    Fact<Q> fact(const nlohmann::json* field, const std::string& key, bool with_clock, std::optional<Frequency>* clock);
};

}  // namespace gambrel::machine_detail
