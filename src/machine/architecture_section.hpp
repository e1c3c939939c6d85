// A section of an architecture's file: numbers in their ranges, quantities, tiles. Faults are gathered.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/json_fields.hpp"

namespace gambrel::machine_detail {

// One section of the file. Its numbers are plain, because the section cites their source.
class Section {
public:
    Section(const nlohmann::json& object, const std::string& path, Errors& errors)
        : fields_(object, path, errors), errors_(errors) {
        if (const std::string cite = fields_.text("cite", true); cite.empty())
            fields_.fault("cite", "is empty; say where the numbers of this section come from");
    }
    double number(const std::string& key, double least, double most, bool required = true) {
        const nlohmann::json* field = fields_.any(key, required);
        if (!field) return 0;
        const double value = field->is_number() ? field->get<double>() : std::nan("");
        if (!(value >= least && value <= most))
            fields_.fault(key, fmt::format("expected a number from {} to {}", least, most));
        return value;
    }
    std::int32_t count(const std::string& key, std::int32_t least, std::int32_t most, bool required = true) {
        const nlohmann::json* field = fields_.any(key, required);
        if (!field) return 0;
        if (!field->is_number_integer() || *field < least || *field > most) {
            fields_.fault(key, fmt::format("expected a whole number from {} to {}", least, most));
            return 0;
        }
        return field->get<std::int32_t>();
    }
    bool flag(const std::string& key, bool required = true) {
        const nlohmann::json* field = fields_.any(key, required);
        if (field && !field->is_boolean()) fields_.fault(key, "expected true or false");
        return field && field->is_boolean() && field->get<bool>();
    }
    template <class Q>
    Q quantity(const std::string& key) {
        return parsed<Q>(key, fields_.text(key, true));
    }
    template <class Q>
    Q quantity_or_none(const std::string& key) {
        const std::string text = fields_.text(key, false);
        return text.empty() ? Q{} : parsed<Q>(key, text);
    }
    template <class Q>
    std::vector<Q> quantities(const std::string& key) {
        std::vector<Q> out;
        for (const std::string& text : fields_.texts(key)) out.push_back(parsed<Q>(key, text));
        if (!std::is_sorted(out.begin(), out.end())) fields_.fault(key, "expected rising values");
        return out;
    }
    Tile tile(const std::string& key) { return tile_from(key, fields_.text(key, true)); }
    Tile tile_or(const std::string& key, const Tile& otherwise) {
        const std::string text = fields_.text(key, false);
        return text.empty() ? otherwise : tile_from(key, text);
    }
    std::vector<Tile> tiles(const std::string& key, bool required = true) {
        std::vector<Tile> out;
        if (!required && !fields_.any(key, false)) return out;
        for (const std::string& text : fields_.texts(key)) out.push_back(tile_from(key, text));
        if (out.empty()) fields_.fault(key, "expected at least one tile such as \"128x64x32\"");
        return out;
    }
    // A list of objects, each read by `read` from a section of its own, whose source this one cites.
    template <class Read>
    void list(const std::string& key, Read&& read) {
        const nlohmann::json* array = fields_.array(key);
        for (std::size_t i = 0; array && i < array->size(); ++i)
            read(Section((*array)[i], fields_.path_of(fmt::format("{}[{}]", key, i)), Part{errors_}));
    }
    void finish() { fields_.finish(); }

private:
    struct Part {
        Errors& errors;
    };
    Section(const nlohmann::json& object, const std::string& path, Part part)
        : fields_(object, path, part.errors), errors_(part.errors) {}
    template <class Q>
    Q parsed(const std::string& key, const std::string& text) {
        const auto value = parse_quantity<Q>(text);
        if (value && value->value() >= 0) return *value;
        fields_.fault(key, value ? fmt::format("\"{}\" is negative", text) : value.error());
        return {};
    }
    Tile tile_from(const std::string& key, const std::string& text) {
        Tile t;
        const char *at = text.data(), *const end = at + text.size();
        for (std::int32_t* side : {&t.m, &t.n, &t.k}) {
            const auto [next, fault] = std::from_chars(at, end, *side);
            const bool last = side == &t.k;
            if (fault != std::errc{} || *side < 1 || *side > 1024 ||
                (last ? next != end : next == end || *next != 'x')) {
                fields_.fault(key, fmt::format("\"{}\" is not a tile such as \"128x64x32\"", text));
                return {};
            }
            at = next + 1;
        }
        return t;
    }
    base_detail::Fields fields_;
    Errors& errors_;
};

}  // namespace gambrel::machine_detail
