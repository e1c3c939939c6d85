// Does an input that becomes shorter while it is read end with its name and exit status 2, and not by SIGBUS?
#include "app/map_fault.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_bytes.hpp"

namespace gambrel::test {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kPages = 4 * 4096;

class MapFault : public testing::Test {
protected:
    void SetUp() override {
        testing::FLAGS_gtest_death_test_style = "threadsafe";
        std::ofstream(file_) << std::string(kPages, 'x');
    }
    void TearDown() override { fs::remove(file_); }
    const std::string file_ = fs::temp_directory_path() / ("gambrel_map_fault_" + std::to_string(::getpid()));
};

TEST_F(MapFault, an_input_that_becomes_shorter_ends_with_its_name) {
    const auto read_what_is_gone = [this] {
        app::install_map_fault_handler();
        const auto bytes = base_detail::FileBytes::open(file_);
        fs::resize_file(file_, 0);
        ::_exit(bytes->view()[kPages - 1] == 'x' ? 0 : 1);
    };
    EXPECT_EXIT(read_what_is_gone(), testing::ExitedWithCode(2), "gambrel_map_fault.*became shorter while it was read");
}

TEST_F(MapFault, another_bus_error_stays_one) {
    const auto read_a_map_of_another = [this] {
        app::install_map_fault_handler();
        std::FILE* const file = std::fopen(file_.c_str(), "r");
        const void* const map = ::mmap(nullptr, kPages, PROT_READ, MAP_PRIVATE, ::fileno(file), 0);
        fs::resize_file(file_, 0);
        ::_exit(static_cast<const volatile char*>(map)[0] == 'x' ? 0 : 1);
    };
    EXPECT_EXIT(read_a_map_of_another(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace gambrel::test
