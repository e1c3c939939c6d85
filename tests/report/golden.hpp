// Compares with a file under tests/report/golden. GAMBREL_UPDATE_GOLDEN=1 in the environment writes it instead: look at
// the diff before committing it.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace gambrel::sample {

inline void expect_golden(const std::string& file, const std::string& actual) {
    const std::string path = std::string(GAMBREL_SOURCE_DIR) + "/tests/report/golden/" + file;
    if (std::getenv("GAMBREL_UPDATE_GOLDEN")) {
        std::ofstream(path, std::ios::binary) << actual;
        return;
    }
    std::ifstream in(path, std::ios::binary);
    ASSERT_TRUE(in) << path << " is missing; run with GAMBREL_UPDATE_GOLDEN=1 to write it";
    const std::string expected{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(expected, actual) << path << "; if the change is meant, run with GAMBREL_UPDATE_GOLDEN=1";
}

}  // namespace gambrel::sample
