// A small reader of the expected tables for tests: quoted fields, a header line, rows by column name. Deliberately not
// the reader under test.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace gambrel::test {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else if (c != '\r')
            out.back() += c;
    }
    return out;
}

inline std::vector<Row> rows(std::istream& file) {
    std::vector<Row> out;
    std::string line;
    if (!std::getline(file, line)) return out;
    const auto header = fields(line);
    while (std::getline(file, line)) {
        const auto values = fields(line);
        Row& row = out.emplace_back();
        for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = i < values.size() ? values[i] : "";
    }
    return out;
}

}  // namespace gambrel::test
