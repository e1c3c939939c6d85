#include "ingest/metric_units.hpp"

#include <gtest/gtest.h>

namespace gambrel::ingest_detail {
namespace {

TEST(MetricUnits, brings_counts_to_one) {
    for (const char* unit :
         {"", "byte", "inst", "sector", "warp", "block", "thread", "cycle", "%", "hz", "SM", "pass", "cluster",
          "request", "inst/cycle", "byte/block", "register/thread", "byte/cycle", "sector/request"}) {
        EXPECT_EQ(base_unit_factor(unit), 1.0) << unit;
    }
}

TEST(MetricUnits, scales_by_a_thousand_as_ncu_does) {
    EXPECT_EQ(base_unit_factor("Kbyte"), 1e3);
    EXPECT_EQ(base_unit_factor("Mbyte"), 1e6);
    EXPECT_EQ(base_unit_factor("Gbyte"), 1e9);
    EXPECT_EQ(base_unit_factor("Tbyte"), 1e12);
    EXPECT_EQ(base_unit_factor("KB"), 1e3);
    EXPECT_EQ(base_unit_factor("Kinst"), 1e3);
    EXPECT_EQ(base_unit_factor("Ghz"), 1e9);
    EXPECT_EQ(base_unit_factor("MHz"), 1e6);
    EXPECT_EQ(base_unit_factor("Kbyte/block"), 1e3);
}

TEST(MetricUnits, scales_bytes_by_1024_as_nvprof_does) {
    EXPECT_EQ(base_unit_factor("KB", ByteScale::binary), 1024.0);
    EXPECT_EQ(base_unit_factor("GB/s", ByteScale::binary), 1073741824.0);
    EXPECT_EQ(base_unit_factor("KiB"), 1024.0);
}

TEST(MetricUnits, gives_times_in_nanoseconds) {
    EXPECT_EQ(base_unit_factor("nsecond"), 1.0);
    EXPECT_EQ(base_unit_factor("usecond"), 1e3);
    EXPECT_EQ(base_unit_factor("msecond"), 1e6);
    EXPECT_EQ(base_unit_factor("second"), 1e9);
    EXPECT_EQ(base_unit_factor("ns"), 1.0);
    EXPECT_EQ(base_unit_factor("us"), 1e3);
    EXPECT_EQ(base_unit_factor("\xC2\xB5s"), 1e3);
    EXPECT_EQ(base_unit_factor("ms"), 1e6);
    EXPECT_EQ(base_unit_factor("s"), 1e9);
}

TEST(MetricUnits, gives_rates_per_second) {
    EXPECT_EQ(base_unit_factor("byte/second"), 1.0);
    EXPECT_EQ(base_unit_factor("Gbyte/s"), 1e9);
    EXPECT_EQ(base_unit_factor("Tbyte/second"), 1e12);
    EXPECT_EQ(base_unit_factor("byte/ns"), 1e9);
    EXPECT_EQ(base_unit_factor("cycle/nsecond"), 1e9);
    EXPECT_EQ(base_unit_factor("cycle/usecond"), 1e6);
    EXPECT_EQ(base_unit_factor("cycle/second"), 1.0);
    EXPECT_EQ(base_unit_factor("inst/ns"), 1e9);
}

TEST(MetricUnits, guesses_no_unknown_unit) {
    for (const char* unit : {"furlong", "Mfurlong", "byte/furlong", "K", "/", "byte/", "xs"}) {
        EXPECT_FALSE(base_unit_factor(unit).has_value()) << unit;
    }
}

}  // namespace
}  // namespace gambrel::ingest_detail
