// A trace of any size made of a real one: its events again and again, with times and ids moved on.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "base/file_bytes.hpp"

namespace gambrel::bench {

inline void write_big_trace(const std::string& from, const std::string& to, std::size_t size) {
    using Json = nlohmann::ordered_json;
    const auto bytes = base_detail::FileBytes::open(from);
    if (!bytes) throw std::runtime_error(to_text(bytes.error()));
    Json document = Json::parse(bytes->view());
    const Json events = std::move(document["traceEvents"]);
    document.erase("traceEvents");
    double first = 1e300, last = 0;
    for (const Json& e : events)
        if (e.value("ph", "") == "X" && e["ts"].is_number()) {
            first = std::min(first, e["ts"].get<double>());
            last = std::max(last, e["ts"].get<double>() + e.value("dur", 0.0));
        }
    std::ofstream out(to, std::ios::binary);
    std::string head = document.dump();
    head.pop_back();
    out << head << ",\n\"traceEvents\": [";
    std::size_t written = head.size();
    for (int copy = 0; written < size; ++copy)
        for (const Json& original : events) {
            Json e = original;
            if (e.contains("ts") && e["ts"].is_number()) e["ts"] = e["ts"].get<double>() + copy * (last - first + 1000);
            if (e.contains("args"))
                for (const char* id : {"correlation", "External id", "Sequence number"})
                    if (e["args"].contains(id) && e["args"][id].is_number_integer())
                        e["args"][id] = e["args"][id].get<std::int64_t>() + copy * 10'000'000LL;
            const std::string text = e.dump();
            out << (written == head.size() ? "\n" : ",\n") << text;
            written += text.size() + 2;
        }
    out << "\n]}\n";
}

}  // namespace gambrel::bench
