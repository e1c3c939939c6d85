// Reads texts from the top of a JSON file, its own and those of its lists, without keeping the rest. A reader that has
// what it wants ends the parse by returning false.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace gambrel::machine_detail {

class TopLevelReader : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() final { return true; }
    bool boolean(bool) final { return true; }
    bool number_integer(number_integer_t) final { return true; }
    bool number_unsigned(number_unsigned_t) final { return true; }
    bool number_float(number_float_t, const string_t&) final { return true; }
    bool binary(binary_t&) final { return true; }
    bool string(string_t& text) final { return depth_ == 1 || (depth_ == 2 && in_list_) ? take(key_, text) : true; }
    bool start_object(std::size_t) final { return ++depth_ > 0; }
    bool end_object() final { return --depth_ >= 0; }
    bool start_array(std::size_t) final {
        if (++depth_ == 2) in_list_ = true;
        return true;
    }
    bool end_array() final {
        const bool ended = depth_-- == 2 && in_list_;
        if (ended) in_list_ = false;
        return ended ? list_ended(key_) : true;
    }
    bool key(string_t& text) final {
        if (depth_ == 1) key_ = text;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) final { return false; }

protected:
    // A text of that key, or of the list that it names.
    virtual bool take(const std::string& key, std::string& text) = 0;
    virtual bool list_ended(const std::string& key) = 0;

private:
    int depth_ = 0;
    bool in_list_ = false;
    std::string key_;
};

}  // namespace gambrel::machine_detail
