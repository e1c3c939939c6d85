// A folder with a fake ncu, a fake nvidia-smi and a fake program on PATH: scripts that stand for the GPU and the
// profiler that the machines of CI lack. The real binary runs in it.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gambrel::test {

namespace fs = std::filesystem;

inline std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Outcome {
    int status = -1;
    std::string out, err;
};

class ProfileFolder : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "gambrel_profile_XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        fs::create_directory(folder_ / "bin");
        script("app", "exit 0");
    }
    void TearDown() override { fs::remove_all(folder_); }

    void script(const std::string& name, const std::string& body) const {
        const fs::path path = folder_ / "bin" / name;
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        chmod(path.c_str(), 0755);
    }
    // Writes its arguments, one per line, and the report; then does what `body` says.
    void fake_ncu(const std::string& version = "2024.3.2.0", const std::string& body = "exit 0") const {
        const fs::path report = fs::path(GAMBREL_SHARED_DATA) / "ncu_rep" / kReport;
        script(
            "ncu",
            fmt::format(
                R"sh(if [ "$1" = --version ]; then echo "NVIDIA (R) Nsight Compute"; echo "Version {0} (build 1)"; exit 0; fi
for a in "$@"; do printf '%s\n' "$a"; done > '{1}/argv'
out=; for a in "$@"; do [ "$last" = -o ] && [ -z "$out" ] && out=$a; last=$a; done
[ -f '{2}' ] && cp '{2}' "$out"
echo "==PROF== this is ncu"
{3})sh",
                version, folder_.string(), report.string(), body));
    }
    void fake_gpu(const std::string& line = "NVIDIA A100-SXM4-40GB, 8.0") const {
        script("nvidia-smi", fmt::format("echo '{}'", line));
    }

    Outcome run(const std::string& arguments) const {
        const std::string command = fmt::format(
            "cd '{0}' && env -u CUDA_HOME -u CUDA_PATH PATH='{0}/bin':/usr/bin:/bin '{1}' profile {2} >out 2>err",
            folder_.string(), GAMBREL_BINARY, arguments);
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / "out"), text_of(folder_ / "err")};
    }
    std::vector<std::string> argv_of_ncu() const {
        std::vector<std::string> lines;
        std::ifstream file(folder_ / "argv");
        for (std::string line; std::getline(file, line);) lines.push_back(line);
        return lines;
    }
    static bool have_data() { return fs::exists(fs::path(GAMBREL_SHARED_DATA) / "ncu_rep" / kReport); }

    static constexpr const char* kReport = "panjd123__cutlass--384.ncu-rep";
    static constexpr const char* kNoData = "shared data not found at " GAMBREL_SHARED_DATA;
    fs::path folder_;
};

}  // namespace gambrel::test
