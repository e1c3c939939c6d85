// Does the quick reader of names agree with the reader of whole machine files?
#include "machine/machine_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/machine.hpp>

#include "base/embedded.hpp"

namespace gambrel::machine_detail {
namespace {

using testing::ElementsAre;

TEST(QuickNames, are_those_that_the_whole_file_has) {
    ASSERT_FALSE(embedded("machines").empty());
    for (const auto& [stem, text] : embedded("machines")) {
        const auto machine = parse_machine(text, stem);
        ASSERT_TRUE(machine) << stem;
        const MachineNames names = machine_names(text);
        EXPECT_EQ(names.id, machine->id);
        EXPECT_EQ(names.id, stem) << "the catalogue is in the order of the files";
        EXPECT_EQ(names.name, machine->name);
        EXPECT_EQ(names.aliases, machine->aliases);
    }
}

TEST(QuickNames, are_those_at_the_top_in_any_order) {
    const MachineNames names = machine_names(
        R"({"sm": {"id": "no", "aliases": ["no"], "name": [["no"]]}, "aliases": ["a", "b"], "name": "n", "id": "i"})");
    EXPECT_THAT(names.all(), ElementsAre("i", "n", "a", "b"));
    EXPECT_THAT(machine_names(R"({"id": "i", "name": "n"})").all(), ElementsAre("i", "n"));
}

}  // namespace
}  // namespace gambrel::machine_detail
