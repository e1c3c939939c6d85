// A folder of its own for each test, and the real binary run in it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "app/profile_folder.hpp"

namespace gambrel::test {

class CommandFolder : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "gambrel_commands_XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    // `before` stands in front of the binary: variables, mpirun.
    Outcome run(const std::string& arguments, const std::string& before = "") const {
        const std::string errors = (folder_ / "stderr").string();
        const std::string command =
            "cd '" + folder_.string() + "' && " + before + " '" GAMBREL_BINARY "' " + arguments + " 2>'" + errors + "'";
        Outcome outcome;
        FILE* pipe = popen(command.c_str(), "r");
        std::array<char, 4096> buffer{};
        while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
            outcome.out.append(buffer.data(), got);
        const int status = pclose(pipe);
        outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        outcome.err = text_of(errors);
        return outcome;
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    std::filesystem::path folder_;
};

}  // namespace gambrel::test
