#include "machine/covered.hpp"

#include <nlohmann/json.hpp>

namespace gambrel::machine_detail {
namespace {

// Takes the list at the top of the file and then ends the parse by returning false.
class CoveredReader : public nlohmann::json_sax<nlohmann::json> {
public:
    std::vector<ComputeCapability> found;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool string(string_t& text) override {
        if (const auto one = in_list_ ? parse_compute_capability(text) : std::nullopt) found.push_back(*one);
        return true;
    }
    bool start_object(std::size_t) override { return ++depth_ > 0; }
    bool end_object() override { return --depth_ >= 0; }
    bool start_array(std::size_t) override {
        in_list_ = ++depth_ == 2 && asked_for_;
        return true;
    }
    bool end_array() override { return --depth_ >= 0 && !in_list_; }
    bool key(string_t& text) override {
        if (depth_ == 1) asked_for_ = text == "compute_capabilities";
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

private:
    int depth_ = 0;
    bool asked_for_ = false, in_list_ = false;
};

}  // namespace

std::vector<ComputeCapability> covered_capabilities(std::string_view json) {
    CoveredReader reader;
    nlohmann::json::sax_parse(json, &reader);
    return std::move(reader.found);
}

}  // namespace gambrel::machine_detail
