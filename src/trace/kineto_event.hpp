// One event of a Chrome trace, and the facts that stand beside the events, into Events.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <simdjson.h>

#include "trace/events.hpp"
#include "trace/json_token.hpp"

namespace gambrel::trace_detail {

// Keys are compared with their closing quote; behind the text lies padding, so that no key is read past its end.
template <std::size_t N>
bool is_key(const char* key, const char (&text)[N]) {
    return std::memcmp(key, text, N - 1) == 0 && key[N - 1] == '"';
}

inline std::string_view token(simdjson::ondemand::value& value) { return bare(value.raw_json_token()); }

enum class Category : std::uint8_t { other, kernel, copy, memset, op, call, annotation, python, counters };
Category category_of(std::string_view cat);
Category category_of_process(std::string_view pid);

class EventReader {
public:
    explicit EventReader(Events& out) : out_(out) {}
    void event(simdjson::ondemand::object& object);
    void devices(simdjson::ondemand::value& value);
    void distributed(simdjson::ondemand::value& value);
    void finish();  // notes on what was left out
    [[nodiscard]] std::uint64_t broken() const { return broken_; }

private:
    struct Fields {
        std::string_view ph, cat, name, pid, tid, ts, dur;
        Category category = Category::other;
        Arguments op;
        GpuEvent gpu;
        std::int64_t correlation = kNone;
    };
    void late_arguments(simdjson::ondemand::object& object, Fields& f);
    void arguments(simdjson::ondemand::value& value, Fields& f);
    void op_argument(const char* key, simdjson::ondemand::value& v, Arguments& op);
    StringId json_text(simdjson::ondemand::value& v);
    std::uint32_t thread(const Fields& f);
    void store(Fields& f, std::int64_t start, std::int64_t duration);
    void remember_category(std::string_view cat);
    void begin(const Fields& f);
    void end(const Fields& f);

    Events& out_;
    std::unordered_map<std::uint64_t, std::uint32_t> threads_;
    std::uint64_t last_key_ = ~std::uint64_t{0};
    std::uint32_t last_thread_ = 0;
    std::unordered_map<std::uint32_t, std::vector<Fields>> open_;  // of each thread: events whose end is to come
    std::uint64_t broken_ = 0, counters_ = 0, foreign_ = 0;
    std::vector<std::string> others_;  // categories that are not read
    std::string room_;
};

}  // namespace gambrel::trace_detail
