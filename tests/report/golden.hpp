// Compares with a file under tests/<room>/golden. GAMBREL_UPDATE_GOLDEN=1 in the environment writes it instead: look at
// the diff before committing it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace gambrel::sample {

inline void expect_golden(const std::string& file, const std::string& actual, const std::string& room = "report") {
    const std::string path = std::string(GAMBREL_SOURCE_DIR) + "/tests/" + room + "/golden/" + file;
    if (std::getenv("GAMBREL_UPDATE_GOLDEN")) {
        std::ofstream(path, std::ios::binary) << actual;
        return;
    }
    std::ifstream in(path, std::ios::binary);
    ASSERT_TRUE(in) << path << " is missing; run with GAMBREL_UPDATE_GOLDEN=1 to write it";
    const std::string expected{std::istreambuf_iterator<char>(in), {}};
    if (expected == actual) return;
    // Only the first line that differs: a whole SVG on the terminal helps nobody.
    std::istringstream was(expected), is(actual);
    std::string old_line, new_line;
    for (int line = 1;; ++line) {
        const bool more_old = static_cast<bool>(std::getline(was, old_line));
        const bool more_new = static_cast<bool>(std::getline(is, new_line));
        if (!more_old) old_line = "(end of file)";
        if (!more_new) new_line = "(end of file)";
        if (old_line == new_line && more_old) continue;
        ADD_FAILURE() << path << ":" << line << ": recorded\n  " << old_line.substr(0, 300) << "\nis now\n  "
                      << new_line.substr(0, 300) << "\nIf that is meant, run with GAMBREL_UPDATE_GOLDEN=1.";
        return;
    }
}

}  // namespace gambrel::sample
