#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "big_report.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: make_big_report IN.ncu-rep OUT.ncu-rep SIZE_MB\n");
        return 2;
    }
    try {
        const auto megabytes = std::strtoull(argv[3], nullptr, 10);
        fmt::print("{} bytes\n", gambrel::bench::write_big_report(argv[1], argv[2], megabytes * 1000000));
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 2;
    }
}
