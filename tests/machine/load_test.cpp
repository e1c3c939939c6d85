// A machine file with faults: are all of them told at once, each with its place? And does saving lose anything?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

std::string fact(const std::string& value) {
    return R"({"value": )" + value + R"(, "origin": "datasheet", "cite": "a table"})";
}

// 100 GFLOP/s: 1 SM of 50 lanes at 1 GHz; 10 GB/s.
std::string toy(const std::string& sm_extra = "", const std::string& level_extra = "",
                const std::string& root_extra = "") {
    return R"({"schema": 1, "id": "toy", "name": "Toy", "clocks": {"boost": )" + fact("\"1 GHz\"") +
           R"(}, "sm": {"count": )" + fact("1") + R"(, "lanes": {"fp32": )" + fact("50") + "}" + sm_extra +
           R"(}, "memory": {"levels": [{"name": "DRAM", "scope": "gpu", "bandwidth": )" + fact("\"10 GB/s\"") +
           level_extra + "}]}" + root_extra + "}";
}

std::vector<std::string> faults(const std::string& text) {
    const auto machine = parse_machine(text, "toy.json");
    std::vector<std::string> out;
    if (!machine)
        for (const auto& error : machine.error()) out.push_back(to_text(error));
    EXPECT_FALSE(machine) << text;
    return out;
}

Machine read(const std::string& text) {
    auto machine = parse_machine(text, "toy.json");
    EXPECT_TRUE(machine) << to_text(machine.error());
    return machine ? *machine : Machine{};
}

TEST(MachineFile, one_lane_is_two_flop_a_cycle) {
    const Machine m = read(toy());
    EXPECT_EQ(m.pipes[Pipe::fp32].dense->value, FlopPerCycle{100});
    EXPECT_EQ(compute_ceiling(m, Pipe::fp32)->value, FlopRate{100e9});
    EXPECT_EQ(memory_ceiling(m, Level::dram)->value, Bandwidth{10e9});
    EXPECT_EQ(m.source, "toy.json");
}

TEST(MachineFile, an_integer_lane_is_one_operation) {
    const Machine m = read(toy(R"(, "lanes": {"int32": )" + fact("64") + "}"));
    EXPECT_EQ(m.pipes[Pipe::int32].dense->value, FlopPerCycle{64});
}

TEST(MachineFile, an_unknown_field_is_named_with_the_nearest_known_one) {
    EXPECT_THAT(faults(toy("", R"(, "bandwith": )" + fact("\"3.35 TB/s\""))),
                Contains("toy.json: memory.levels[0].bandwith: unknown field; did you mean \"bandwidth\"?"));
    EXPECT_THAT(faults(toy("", "", R"(, "measured_peeks": {})")),
                Contains("toy.json: measured_peeks: unknown field; did you mean \"measured_peaks\"?"));
    EXPECT_THAT(faults(toy("", "", R"(, "stated_peaks": {"fp33": 1})")),
                Contains(AllOf(HasSubstr("stated_peaks.fp33: unknown field"), HasSubstr("fp32"))));
}

TEST(MachineFile, a_missing_unit_is_told_with_an_example) {
    EXPECT_THAT(
        faults(toy("", R"(, "latency": )" + fact("\"28\""))),
        Contains("toy.json: memory.levels[0].latency.value: \"28\" has no unit; write a value such as \"28 cycle\""));
    EXPECT_THAT(
        faults(toy("", R"(, "capacity": )" + fact("16"))),
        Contains(AllOf(HasSubstr("toy.json: memory.levels[0].capacity.value: 16 has no unit"), HasSubstr("kB"))));
}

TEST(MachineFile, a_number_without_source_is_refused) {
    EXPECT_THAT(faults(toy("", R"(, "capacity": "16 GB")")),
                Contains(AllOf(HasSubstr("memory.levels[0].capacity"), HasSubstr("no source"))));
    EXPECT_THAT(faults(toy("", R"(, "capacity": {"value": "16 GB", "origin": "datasheet"})")),
                Contains(HasSubstr("memory.levels[0].capacity.cite: missing")));
    EXPECT_THAT(faults(toy("", R"(, "capacity": {"value": "16 GB", "origin": "datasheet", "cite": ""})")),
                Contains(HasSubstr("memory.levels[0].capacity.cite")));
    EXPECT_THAT(faults(toy("", R"(, "capacity": {"value": "16 GB", "origin": "modelled", "cite": "x"})")),
                Contains(AllOf(HasSubstr("origin"), HasSubstr("\"modelled\" is not an origin"))));
}

TEST(MachineFile, all_faults_are_told_at_once) {
    const auto all = faults(R"({"schema": 2, "id": "x", "compute_capability": "eight",
        "clocks": {"boost": {"value": "1 GB/s", "origin": "datasheet", "cite": "c"}},
        "sm": {"count": {"value": "many", "origin": "datasheet", "cite": "c"}, "lains": {}},
        "memory": {"levels": [{"name": "L9", "scope": "sm", "widht": 1}, {"name": "L2", "scope": "chip"}, 7]}})");
    for (const char* place :
         {"toy.json: schema: ", "toy.json: name: missing", "toy.json: compute_capability: \"eight\"",
          "toy.json: clocks.boost.value: \"1 GB/s\"", "toy.json: sm.count.value: \"many\"",
          "toy.json: sm.lains: unknown field", "toy.json: memory.levels[0].name: \"L9\" is not a level",
          "toy.json: memory.levels[0].widht: unknown field", "toy.json: memory.levels[1].scope: \"chip\"",
          "toy.json: memory.levels[2]: 7 is not an object"})
        EXPECT_THAT(all, Contains(HasSubstr(place)));
}

TEST(MachineFile, unknown_is_a_word_and_not_a_zero) {
    const Machine m = read(toy(R"(, "max_warps": "unknown")", R"(, "capacity": "unknown")"));
    EXPECT_FALSE(m.sm.max_warps);
    EXPECT_FALSE(m.levels[0].capacity);
}

TEST(MachineFile, numbers_that_cannot_be_are_refused) {
    EXPECT_THAT(faults(toy("", R"(, "latency": )" + fact("\"-1 cycle\""))), Contains(HasSubstr("negative")));
    EXPECT_THAT(faults(toy(R"(, "max_warps": )" + fact("-1"))), Contains(HasSubstr("out of range")));
    EXPECT_THAT(
        faults(toy("", R"(, "measured": {"value": "9 GB/s", "clock": "-5 MHz", "origin": "measured", "cite": "b"})")),
        Contains(HasSubstr("measured.clock")));
    EXPECT_FALSE(faults(toy(R"(, "max_warps": )" + fact("1e999"))).empty());
}

// A clock of 0 gave rows without a time and without a reason.
TEST(MachineFile, nothing_is_zero_and_numbers_do_not_contradict_each_other) {
    EXPECT_THAT(faults(toy("", R"(, "latency": )" + fact("\"0 cycle\""))),
                Contains(HasSubstr("\"0 cycle\" is not above zero; write \"unknown\"")));
    EXPECT_THAT(faults(toy(R"(, "schedulers": )" + fact("0.5"))),
                Contains("toy.json: sm.schedulers: 0.5 is not a whole number from 1 to 1e+06"));
    EXPECT_THAT(faults(toy(R"(, "shared_memory": )" + fact("\"64 KiB\"") + R"(, "shared_memory_per_cta": )" +
                           fact("\"99 KiB\""))),
                Contains(HasSubstr("sm.shared_memory_per_cta: 99 KiB is more than the 64 KiB of the SM")));
    EXPECT_THAT(
        faults(
            toy("", "", R"(, "clocks": {"base": )" + fact("\"2 GHz\"") + R"(, "boost": )" + fact("\"1 GHz\"") + "}")),
        Contains("toy.json: clocks.base: 2 GHz is above the boost clock, 1 GHz"));
}

TEST(MachineFile, memory_with_ecc_says_how_many_bytes_share_check_bits) {
    const Machine m = *find_in_catalogue("v100-sxm2-16gb");
    const auto again = parse_machine(to_json(m), "v100");
    ASSERT_TRUE(again);
    ASSERT_TRUE(again->find(Level::dram)->ecc_block);
    EXPECT_EQ(again->find(Level::dram)->ecc_block->value, Bytes{32});
    EXPECT_FALSE(find_in_catalogue("titan-v")->find(Level::dram)->ecc_block);
}

TEST(MachineFile, check_bits_are_a_share_of_the_data) {
    Machine m = *find_in_catalogue("t4");
    ASSERT_TRUE(m.find(Level::dram)->inline_ecc);
    EXPECT_EQ(parse_machine(to_json(m), "t4")->find(Level::dram)->inline_ecc->value, 0.0625);
    m.at(Level::dram).inline_ecc->value = 16;
    const auto wrong = parse_machine(to_json(m), "t4");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(to_text(wrong.error()), HasSubstr("expected 0 to 1"));
}

TEST(MachineFile, what_is_no_machine_file_is_an_error_and_never_an_exception) {
    for (const std::string text :
         {"", "{", "[]", "null", "7", "\"x\"", "{\"schema\": 1e999}", "\xff\xfe", "{\"\xff\": 1}"})
        EXPECT_FALSE(faults(text).empty()) << text;
    EXPECT_FALSE(faults(std::string(200000, '[')).empty());
    EXPECT_FALSE(faults(std::string(100000, '[') + std::string(100000, ']')).empty());
}

TEST(MachineFile, a_level_named_twice_is_a_fault) {
    const std::string level = R"({"name": "L2", "scope": "gpu"})";
    EXPECT_THAT(faults(R"({"schema": 1, "id": "t", "name": "T", "memory": {"levels": [)" + level + "," + level + "]}}"),
                Contains(HasSubstr("memory.levels[1].name: level \"L2\" is there twice")));
}

TEST(MachineFile, levels_are_kept_from_the_arithmetic_outwards) {
    Machine m;
    for (const Level l : {Level::dram, Level::l1, Level::l3, Level::shared, Level::l2, Level::dram})
        m.at(l).per_sm = true;
    ASSERT_EQ(m.levels.size(), kLevels);
    for (std::size_t i = 0; i < kLevels; ++i) EXPECT_EQ(m.levels[i].level, all_levels()[i]);
}

TEST(MachineFile, a_file_that_is_not_there_is_an_error_that_names_it) {
    EXPECT_THAT(to_text(load_machine_file("/nowhere/x.json").error()), HasSubstr("/nowhere/x.json"));
    EXPECT_THAT(to_text(machine_from("nowhere.json").error()), HasSubstr("no such file"));
    EXPECT_THAT(to_text(machine_from("a100-sxm4-81gb").error()), HasSubstr("similar: a100-sxm4-40gb, a100-sxm4-80gb"));
    EXPECT_FALSE(load_machine_file("/"));  // a folder
}

TEST(MachineFile, saving_keeps_every_number_that_a_report_may_leave_alone) {
    Machine m = read(toy());
    m.sm.sms.reset();  // lanes known from the compute capability, SM count not in the file
    m.sm.schedulers = Sourced<double>{4, Origin::derived, "as another"};
    m.pipes[Pipe::tensor_fp16].sparse = Sourced<FlopPerCycle>{FlopPerCycle{2048}, Origin::derived, "c"};
    m.levels[0].measured = AtClock<Bandwidth>{{Bandwidth{9.1e9}, Origin::measured, "b"}, Frequency{1.1e9}};
    m.pipes[Pipe::fp32].measured = AtClock<FlopRate>{{FlopRate{98.7e9}, Origin::measured, "b"}, {}};
    const Machine back = read(to_json(m));
    EXPECT_EQ(to_json(back), to_json(m));
    ASSERT_TRUE(back.pipes[Pipe::fp32].dense);
    EXPECT_EQ(back.pipes[Pipe::fp32].dense->value, FlopPerCycle{100});
    ASSERT_TRUE(back.sm.schedulers);
    ASSERT_TRUE(back.pipes[Pipe::tensor_fp16].sparse);
    EXPECT_EQ(back.levels[0].measured->clock, Frequency{1.1e9});
    EXPECT_EQ(back.pipes[Pipe::fp32].measured->ceiling.value, FlopRate{98.7e9});
}

TEST(MachineFile, compute_capabilities_read_and_print) {
    EXPECT_EQ(to_text(*parse_compute_capability("8.6")), "8.6");
    EXPECT_EQ(*parse_compute_capability("10.0"), (ComputeCapability{10, 0}));
    EXPECT_LT(*parse_compute_capability("9.0"), *parse_compute_capability("10.0"));
    for (const char* text : {"", "8", "8.", ".6", "8.6a", "0.1", "-8.6", "8.-6", "sm_86"})
        EXPECT_EQ(parse_compute_capability(text), std::nullopt) << text;
}

TEST(MachineFile, keeps_the_launch_of_its_host) {
    EXPECT_FALSE(read(toy()).launch);
    const Machine m = read(toy("", "", R"(, "launch": )" + fact("\"5.4e-6 s\"")));
    ASSERT_TRUE(m.launch);
    EXPECT_DOUBLE_EQ(m.launch->value.value(), 5.4e-6);
    EXPECT_DOUBLE_EQ(read(to_json(m)).launch->value.value(), 5.4e-6);
}

}  // namespace
}  // namespace gambrel
