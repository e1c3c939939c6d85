// What is left of a report that is damaged, and what is said of it.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/ncu_report_sample.hpp"

namespace gambrel::ingest_detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NcuReport, a_field_that_claims_four_gigabytes_is_damage_and_not_empty) {
    Message wrapped = kernel();
    wrapped.bytes += std::string("\x32") + "\x80\x80\x80\x80\x10";  // field 6, length 2^32
    const auto profile = parsed_report(one_kernel(wrapped));
    EXPECT_TRUE(profile.partial);
    ASSERT_FALSE(profile.notes.empty());
    EXPECT_THAT(profile.notes.front().what, HasSubstr("cannot be decoded"));
}

TEST(NcuReport, a_report_that_is_cut_anywhere_behind_its_header_is_marked_partial) {
    const std::string whole = one_kernel(kernel().message(13, metric(1, real_value(5))));
    EXPECT_FALSE(parsed_report(whole).partial);
    for (std::size_t size = whole.size() - 1; size > whole.size() - 40; --size)
        EXPECT_TRUE(parsed_report(whole.substr(0, size)).partial) << size << " of " << whole.size();
}

TEST(NcuReport, a_result_that_cannot_be_decoded_is_a_row_without_values_and_a_note_with_its_offset) {
    Message broken = kernel("broken").message(13, metric(1, real_value(3)));
    broken.bytes += "\x6a\x7f";  // a metric of 127 bytes that are not there
    Block block;
    block.kernels = {broken, kernel("good").message(13, metric(1, real_value(4)))};
    block.strings = kNames;
    const std::string report = ReportBuilder().block(block).bytes();
    const auto profile = parsed_report(report);
    ASSERT_EQ(profile.launches.size(), 2U);
    EXPECT_EQ(profile.launches[0].name.str(), "broken");
    EXPECT_EQ(profile.launches[0].values, 0U);
    EXPECT_THAT(texts(profile.launches[0].faults), ElementsAre(HasSubstr("damaged")));
    EXPECT_EQ(value(profile, 1, "gpu__time_duration.sum"), 4.0);
    ASSERT_EQ(profile.notes.size(), 1U);
    EXPECT_EQ(profile.notes[0].where, "r.ncu-rep: byte " + std::to_string(report.find(broken.bytes)));
}

TEST(NcuReport, a_damaged_string_table_does_not_shift_later_names) {
    Block first, result;
    first.strings = {"unwanted"};
    result.kernels = {kernel().message(13, metric(1, real_value(1))).message(13, metric(2, real_value(2)))};
    result.strings = {"gpu__time_duration.sum"};
    // After "unwanted" a table with one string and one byte that is no field: what is string 2 can no longer be known.
    const std::string table = Message().text(1, "gpu__time_duration.sum").bytes + '\x0a';
    const std::string report =
        ReportBuilder().block(first).raw(sized(Message().text(4, table).bytes)).block(result).bytes();
    const auto profile = parsed_report(report);
    EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 1.0);
    EXPECT_EQ(profile.values.size(), 1U);
    ASSERT_EQ(profile.notes.size(), 2U);
    EXPECT_THAT(profile.notes[0].what, HasSubstr("string table"));
    EXPECT_THAT(profile.notes[1].what, HasSubstr("1 metric values have names beyond"));
}

TEST(NcuReport, sizes_that_lie_are_notes) {
    Block block;
    block.kernels = {kernel()};
    const std::string good = ReportBuilder().block(block).bytes();
    const auto note = [&](const std::string& tail) {
        const auto profile = parsed_report(good + tail);
        EXPECT_EQ(profile.launches.size(), 1U);
        return profile.notes.size() == 1 ? profile.notes[0] : Error{"", "one note expected"};
    };
    const std::string at = "r.ncu-rep: byte " + std::to_string(good.size());
    EXPECT_EQ(note("\xff\xff\xff\xff").where, at);
    EXPECT_THAT(note("\x05").what, HasSubstr("truncated"));
    EXPECT_THAT(note(sized("\x07")).what, HasSubstr("block header cannot be decoded"));
    // Four billion results and a payload that is not there; then one that holds a single short one.
    EXPECT_THAT(note(sized(Message().number(2, 0xffffffff).number(5, 0xffffffff).bytes)).what, HasSubstr("truncated"));
    EXPECT_THAT(note(sized(Message().number(2, 0xffffffff).number(5, 4).bytes) + std::string(4, '\0')).what,
                HasSubstr("0 bytes left"));
    EXPECT_THAT(note(sized(Message().number(2, 1).number(5, 8).bytes) + "\x09" + std::string(7, '\0')).what,
                HasSubstr("an item of 9 bytes in a block with 8 bytes left"));
    EXPECT_THAT(note(sized(Message().number(5, 6).bytes) + "abc").what,
                HasSubstr("truncated inside a block (3 bytes left)"));
    EXPECT_THAT(note(sized(Message().number(5, 6).bytes) + "abcdef").what, HasSubstr("6 bytes of a kind"));
}

TEST(NcuReport, notes_stay_few_when_everything_is_damaged) {
    Block block;
    for (int i = 0; i < 1000; ++i) block.kernels.push_back(Message{"\x07"});
    const auto profile = parsed_report(ReportBuilder().block(block).bytes());
    EXPECT_EQ(profile.launches.size(), 1000U);
    ASSERT_EQ(profile.notes.size(), 21U);
    EXPECT_EQ(profile.notes.back().what, "980 more faults of this file are not listed");
}

TEST(NcuReport, what_is_no_report_or_ends_in_its_file_header_is_an_error) {
    for (const std::string& bytes :
         {std::string("NVR"), std::string("NVR\0\2\0", 6), std::string("NVR\0\2\0\0\0\x08", 9)}) {
        const auto profile = read_ncu_report(bytes, {"r.ncu-rep", wanted_metrics(), {}});
        ASSERT_FALSE(profile);
        EXPECT_THAT(profile.error().at(0).where, HasSubstr("r.ncu-rep"));
    }
}

// A report in which a run of unwanted metrics, which is passed over in haste, ends in `odd`, and one wanted metric
// follows.
Profile behind_unwanted(const Message& odd, const std::vector<std::string>& names = kNames) {
    Message result = kernel();
    for (int i = 0; i < 3; ++i) result.message(13, metric(0, real_value(i)));
    result.message(13, odd).message(13, metric(2, u64_value(7)));
    return parsed_report(one_kernel(result, names));
}

TEST(NcuReport, a_run_of_unwanted_metrics_is_passed_over_however_its_last_one_is_written) {
    const auto padded = [](std::size_t size) { return metric(0, real_value(1)).text(9, std::string(size, 'x')); };
    Message long_id;  // 0 in four bytes
    long_id.bytes = "\x08\x80\x80\x80";
    long_id.bytes += std::string(1, '\0') + Message().message(2, real_value(1)).bytes;
    for (const Message& odd : {Message(), Message().number(1, 0), Message().message(2, real_value(1)).number(1, 0),
                               long_id, padded(100), padded(200), padded(20'000), padded(3'000'000)}) {
        const Profile profile = behind_unwanted(odd);
        EXPECT_EQ(profile.values.size(), 1U) << odd.bytes.size();
        EXPECT_EQ(value(profile, 0, "dram__bytes.sum"), 7.0) << odd.bytes.size();
        EXPECT_THAT(profile.notes, testing::IsEmpty()) << odd.bytes.size();
    }
}

TEST(NcuReport, names_of_one_to_four_bytes_end_a_run_of_unwanted_metrics_where_they_are_wanted) {
    for (const std::size_t id :
         {std::size_t{5}, std::size_t{127}, std::size_t{128}, std::size_t{16'383}, std::size_t{16'384}}) {
        std::vector<std::string> names(id + 1, "unwanted");
        names[2] = kNames[2];
        names[id] = kNames[1];
        const Profile profile = behind_unwanted(metric(id, real_value(5)), names);
        EXPECT_EQ(value(profile, 0, "gpu__time_duration.sum"), 5.0) << id;
        EXPECT_EQ(value(profile, 0, "dram__bytes.sum"), 7.0) << id;
    }
    EXPECT_EQ(behind_unwanted(metric(3, real_value(5))).notes.size(), 1U) << "beyond the names that the file holds";
}

// Values in their usual form are read in haste behind another metric; every other form must come to the same.
TEST(NcuReport, a_value_behind_other_metrics_is_read_whatever_its_form) {
    const auto behind = [](const Message& odd) { return value(behind_unwanted(odd), 0, "gpu__time_duration.sum"); };
    const auto with = [](const Message& message) { return metric(1, message); };
    EXPECT_EQ(behind(with(real_value(2.5))), 2.5);
    EXPECT_EQ(behind(with(real_value(2.5)).text(3, std::string(500, 'x'))), 2.5) << "instances follow";
    EXPECT_EQ(behind(with(Message().single(2, 0.5F))), 0.5);
    for (const std::uint64_t count : {0ULL, 127ULL, 128ULL, 1ULL << 40, (1ULL << 62) + (1ULL << 20)})
        EXPECT_EQ(behind(with(u64_value(count))), static_cast<double>(count));
    EXPECT_TRUE(std::isnan(behind(with(u64_value(~0ULL))).value())) << "ten bytes, a wrapped counter";
    EXPECT_EQ(behind(with(Message().number(4, 7))), 7);
    EXPECT_EQ(behind(with(text_value("12.25"))), 12.25);
    EXPECT_EQ(behind(with(real_value(1).number(5, 9))), 9) << "the last field of a value counts";
    EXPECT_EQ(behind(with(u64_value(9).real(3, 1))), 1);
    EXPECT_EQ(behind(with(u64_value(9).number(5, 8))), 8);
    EXPECT_EQ(behind(with(real_value(3)).message(2, real_value(4))), 3) << "the first value counts";
    EXPECT_EQ(behind(Message().number(1, 1)), std::nullopt);
    EXPECT_EQ(behind(with(Message())), std::nullopt);
}

TEST(NcuReport, a_value_that_ends_beyond_its_metric_is_damage) {
    for (const Message& value : {real_value(2.5), u64_value(1ULL << 40), Message().single(2, 0.5F)}) {
        for (std::size_t size = 1; size < value.bytes.size(); ++size) {
            Message cut;
            cut.bytes = value.bytes.substr(0, size);
            const Profile profile = behind_unwanted(metric(1, cut));
            EXPECT_EQ(profile.launches.at(0).values, 0U) << size;
            EXPECT_EQ(profile.launches.at(0).faults.size(), 1U) << size;
        }
        Message cut_metric;  // its Value goes on into the metric behind it
        cut_metric.bytes = metric(1, value).bytes;
        cut_metric.bytes.pop_back();
        EXPECT_EQ(behind_unwanted(cut_metric).launches.at(0).faults.size(), 1U);
    }
}

TEST(NcuReport, a_metric_that_ends_beyond_its_result_is_damage_behind_unwanted_ones_too) {
    Message result = kernel();
    for (int i = 0; i < 3; ++i) result.message(13, metric(0, real_value(i)));
    result.bytes += Message().message(13, metric(0, real_value(1)).text(9, std::string(99, 'x'))).bytes.substr(0, 20);
    const Profile profile = parsed_report(one_kernel(result));
    EXPECT_EQ(profile.launches.at(0).values, 0U);
    EXPECT_EQ(profile.launches.at(0).faults.size(), 1U);
    EXPECT_TRUE(profile.partial);
}

}  // namespace
}  // namespace gambrel::ingest_detail
