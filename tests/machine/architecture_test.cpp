// A GPU generation is a file: every built-in one loads, a faulty one is refused with all faults, and a machine may have
// its own.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/machine.hpp>

#include "base/embedded.hpp"
#include "machine/covered.hpp"

namespace gambrel {
namespace {

using testing::HasSubstr;

std::string file_of(std::string_view id) {
    for (const auto& [name, text] : embedded("architectures"))
        if (name == id) return std::string(text);
    return {};
}
std::string volta() { return file_of("volta"); }
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Architectures, every_machine_of_the_catalogue_has_one_that_covers_it) {
    for (const Machine& m : catalogue()) {
        const Architecture& a = architecture_of(m);
        EXPECT_THAT(a.covers, testing::Contains(*m.compute_capability)) << m.id;
        EXPECT_EQ(a.matrix.has_value(), (*m.compute_capability >= ComputeCapability{7, 0})) << m.id;
    }
}

TEST(Architectures, agree_with_the_machines_of_the_catalogue) {
    for (const Machine& m : catalogue()) {
        const Architecture& a = architecture_of(m);
        if (m.id == "k80") continue;  // GK210 has twice the registers and shared memory of its generation
        EXPECT_EQ(a.max_warps, m.sm.max_warps->value) << m.id;
        EXPECT_EQ(a.max_ctas, m.sm.max_ctas->value) << m.id;
        EXPECT_EQ(a.registers, m.sm.registers->value) << m.id;
        EXPECT_EQ(a.shared_memory, m.sm.shared_memory->value) << m.id;
        EXPECT_EQ(a.shared_memory_per_cta, m.sm.shared_memory_per_cta->value) << m.id;
        EXPECT_EQ(a.l1_capacity, m.find(Level::l1)->capacity->value) << m.id;
    }
}

// They are indexed by a quick reader and read one by one.
TEST(Architectures, are_indexed_by_what_the_whole_file_covers) {
    std::vector<std::vector<ComputeCapability>> covered;
    for (const auto& [name, text] : embedded("architectures")) {
        covered.push_back(machine_detail::covered_capabilities(text));
        EXPECT_EQ(parse_architecture(text, name)->covers, covered.back()) << name;
    }
    std::sort(covered.begin(), covered.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
    ASSERT_EQ(architectures().size(), covered.size());
    for (std::size_t i = 0; i < covered.size(); ++i) EXPECT_EQ(architectures()[i].covers, covered[i]);
    const char* nested = R"({"sm": {"compute_capabilities": ["1.0"]}, "x": ["2.0"], "compute_capabilities": ["8.6"]})";
    EXPECT_THAT(machine_detail::covered_capabilities(nested), testing::ElementsAre(ComputeCapability{8, 6}));
}

TEST(Architectures, of_a_newer_compute_capability_are_the_newest_known_and_listed_as_assumed) {
    Machine m = *find_in_catalogue("b200");
    m.compute_capability = ComputeCapability{99, 0};
    EXPECT_EQ(&architecture_of(m), &architectures().back());
    EXPECT_THAT(assumptions(m).front().why, HasSubstr("99.0"));
}

TEST(Architectures, a_file_with_faults_is_refused_with_all_of_them) {
    std::string text = replaced(volta(), "\"carve_outs\"", "\"carve_out\"");
    text = replaced(text, "\"stages\": 2", "\"stages\": 200");
    text = replaced(text, "256x128x32", "256x128");
    const auto parsed = parse_architecture(text, "volta.json");
    ASSERT_FALSE(parsed);
    const std::string errors = to_text(parsed.error());
    EXPECT_THAT(errors, HasSubstr("volta.json: l1.carve_out: unknown field; did you mean \"carve_outs\"?"));
    EXPECT_THAT(errors, HasSubstr("matrix.stages: expected a whole number from 1 to 16"));
    EXPECT_THAT(errors, HasSubstr("\"256x128\" is not a tile"));
}

TEST(Architectures, a_kernel_of_a_list_with_faults_is_refused_by_its_place) {
    std::string text = replaced(file_of("hopper"), "\"up_to_rows\": 16, \"up_to_columns\": 1280", "\"up_to\": 16");
    text = replaced(text, "\"cluster_m\": 4", "\"cluster_m\": 0");
    const auto parsed = parse_architecture(text, "hopper.json");
    ASSERT_FALSE(parsed);
    const std::string errors = to_text(parsed.error());
    EXPECT_THAT(errors, HasSubstr("hopper.json: matrix_gemm.scaled_kernels[0].up_to: unknown field"));
    EXPECT_THAT(errors, HasSubstr("scaled_kernels[2].cluster_m: expected a whole number from 1 to 16"));
}

// Without the length of a row nobody knows which pieces lie in one together.
TEST(Architectures, what_opening_a_row_of_dram_costs_is_refused_without_its_length) {
    const auto parsed = parse_architecture(replaced(volta(), "\"row\": \"1 KiB\",", ""), "volta.json");
    ASSERT_FALSE(parsed);
    EXPECT_THAT(to_text(parsed.error()), HasSubstr("volta.json: dram.row"));
}

TEST(Architectures, a_file_without_a_source_is_refused) {
    const auto parsed = parse_architecture(replaced(volta(), "\"cite\": \"Volta Tuning Guide\",", ""), "volta.json");
    ASSERT_FALSE(parsed);
    EXPECT_THAT(to_text(parsed.error()), HasSubstr("l1.cite"));
}

TEST(Architectures, a_machine_may_have_its_own) {
    auto parsed = parse_architecture(replaced(volta(), "\"name\": \"Volta\"", "\"name\": \"Next\""), "next.json");
    ASSERT_TRUE(parsed) << to_text(parsed.error());
    Machine m = *find_in_catalogue("v100");
    m.own_architecture = std::make_shared<const Architecture>(std::move(*parsed));
    EXPECT_EQ(architecture_of(m).name, "Next");
}

}  // namespace
}  // namespace gambrel
