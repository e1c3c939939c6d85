// Is a machine found by every name that drivers, profilers and people give it, and is a wrong name answered usefully?
#include <cctype>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

TEST(MachineNames, drivers_profilers_and_people_find_the_same_machine) {
    const std::map<std::string, std::string> names{{"v100", "v100-sxm2-16gb"},
                                                   {"a100", "a100-sxm4-40gb"},
                                                   {"h100", "h100-sxm"},
                                                   {"Tesla V100-PCIE-32GB", "v100-pcie-32gb"},
                                                   {"Tesla V100-SXM2-32GB", "v100-sxm2-32gb"},
                                                   {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"},
                                                   {"A100-SXM4-40GB", "a100-sxm4-40gb"},
                                                   {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                                                   {"A100 PCIe 40GB", "a100-pcie-40gb"},
                                                   {"NVIDIA A100 80GB PCIe", "a100-pcie-80gb"},
                                                   {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                                   {"NVIDIA H100 PCIe", "h100-pcie"},
                                                   {"NVIDIA H200", "h200"},
                                                   {"Tesla T4", "t4"},
                                                   {"Tesla P100-PCIE-16GB", "p100-pcie-16gb"},
                                                   {"Tesla P100-SXM2-16GB", "p100-sxm2-16gb"},
                                                   {"Tesla P4", "p4"},
                                                   {"Tesla P40", "p40"},
                                                   {"Tesla K80", "k80"},
                                                   {"Tesla M60", "m60"},
                                                   {"GRID K520", "grid-k520"},
                                                   {"NVIDIA TITAN V", "titan-v"},
                                                   {"TITAN V", "titan-v"},
                                                   {"NVIDIA A40", "a40"},
                                                   {"NVIDIA A10G", "a10g"},
                                                   {"NVIDIA A30", "a30"},
                                                   {"NVIDIA L4", "l4"},
                                                   {"NVIDIA L40S", "l40s"},
                                                   {"NVIDIA GeForce RTX 3090", "rtx-3090"},
                                                   {"GeForce RTX 2080 Ti", "rtx-2080-ti"},
                                                   {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                                                   {"NVIDIA GeForce RTX 5090", "rtx-5090"},
                                                   {"GeForce GTX 1080 Ti", "gtx-1080-ti"},
                                                   {"NVIDIA GeForce GTX 1650", "gtx-1650"},
                                                   {"NVIDIA B200", "b200"},
                                                   {"NVIDIA GB300", "gb300"},
                                                   {"NVIDIA PG509-210", "a100-sxm4-80gb"},
                                                   {"A100-PG509-200", "a100-sxm4-40gb"},
                                                   {"NVIDIA A800-SXM4-80GB", "a800-sxm4-80gb"},
                                                   {"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
                                                   {"Tesla V100", "v100-sxm2-16gb"},
                                                   {"v100-32gb", "v100-sxm2-32gb"},
                                                   {"V100 (NERSC Cori GPU, V100-SXM2-16GB)", "v100-sxm2-16gb"},
                                                   {"V100 (Tesla V100-PCIE-32GB)", "v100-pcie-32gb"},
                                                   {"4090", "rtx-4090"},
                                                   {"rtx4090", "rtx-4090"},
                                                   {"RTX 4080", "rtx-4080"},
                                                   {"4080 super", "rtx-4080-super"},
                                                   {"RTX 2080", "rtx-2080"},
                                                   {"RTX A6000", "rtx-a6000"},
                                                   {"NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"},
                                                   {"PCIe H100 80GB", "h100-pcie"},
                                                   {"A100 PCIe 80 GB", "a100-pcie-80gb"},
                                                   {"NVIDIA GB200", "gb200"},
                                                   {"NVIDIA Thor", "jetson-thor"},
                                                   {"Quadro RTX 6000", "quadro-rtx-6000"}};
    for (const auto& [name, id] : names) {
        const Machine* m = find_in_catalogue(name);
        ASSERT_TRUE(m) << name;
        EXPECT_EQ(m->id, id) << name;
    }
    for (const char* name : {"v100s", "h800"}) EXPECT_TRUE(find_in_catalogue(name)) << name;
    for (const char* name : {"", "nvidia", "tesla", "rtx", "a1000", "rtx 6000", "geforce rtx"})
        EXPECT_FALSE(find_in_catalogue(name)) << name;
}

std::vector<std::string> ids_like(std::string_view words) {
    std::vector<std::string> ids;
    for (const Machine* m : machines_like(words)) ids.push_back(m->id);
    return ids;
}

TEST(MachineNames, a_family_is_found_by_its_words) {
    using testing::ElementsAre;
    const auto v100 = ElementsAre("v100-dgxs-32gb", "v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-16gb",
                                  "v100-sxm2-32gb", "v100s-pcie-32gb");
    EXPECT_THAT(ids_like("v100"), v100);
    EXPECT_THAT(ids_like("Tesla V100"), v100);
    EXPECT_THAT(ids_like("v100 pcie 32gb"), ElementsAre("v100-pcie-32gb", "v100s-pcie-32gb"));
    EXPECT_THAT(ids_like("h100"), ElementsAre("h100-nvl", "h100-pcie", "h100-sxm"));
    EXPECT_THAT(ids_like("a10"), ElementsAre("a10", "a10g"));  // and not a100
    EXPECT_THAT(ids_like("2080"), ElementsAre("rtx-2080", "rtx-2080-ti"));
    EXPECT_THAT(ids_like("radeon"), ElementsAre());
    EXPECT_THAT(ids_like(""), ElementsAre());
}

TEST(MachineNames, a_name_that_several_boards_share_says_which_one_was_taken) {
    const auto note = machine_choice_note("a100");
    ASSERT_TRUE(note);
    EXPECT_EQ(to_text(*note),
              "a100: taken as NVIDIA A100-SXM4-40GB (a100-sxm4-40gb); other boards of this name: a100-pcie-40gb, "
              "a100-pcie-80gb, a100-sxm4-80gb");
    EXPECT_TRUE(machine_choice_note("h100"));
    EXPECT_TRUE(machine_choice_note("Tesla V100"));
    for (const char* whole : {"a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe",
                              "t4", "rtx-4080", "NVIDIA GeForce RTX 4090", "PG509-210", "machine.json"})
        EXPECT_FALSE(machine_choice_note(whole)) << whole;
}

TEST(MachineNames, an_unknown_name_is_answered_with_its_family_and_not_with_the_nearest_letters) {
    const auto similar = [](const std::string& name) {
        const auto machine = machine_from(name);
        if (machine) return "found " + machine->id;
        const std::string& what = machine.error()[0].what;
        const auto at = what.find("; similar: ");
        return at == std::string::npos ? std::string{} : what.substr(at + 11);
    };
    EXPECT_EQ(similar("Tesla V100 64GB"),
              "v100-dgxs-32gb, v100-pcie-16gb, v100-pcie-32gb, v100-sxm2-16gb, v100-sxm2-32gb, v100s-pcie-32gb");
    EXPECT_EQ(similar("RTX 3060 Laptop"), "rtx-3060, rtx-3060-ti");
    EXPECT_EQ(similar("rtx 6000"), "quadro-rtx-6000, rtx-6000-ada, rtx-pro-6000-blackwell");
    EXPECT_EQ(similar("rtx-4099"), "rtx-4090");
    EXPECT_EQ(similar("MI300X"), "");
}

// As catalogue.cpp compares names.
std::string normalised(std::string_view name) {
    std::string key;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return key.starts_with("nvidia") ? key.substr(6) : key;
}

TEST(MachineNames, no_name_belongs_to_two_machines) {
    std::map<std::string, std::string> owner;
    for (const Machine& m : catalogue()) {
        std::vector<std::string> names = m.aliases;
        names.push_back(m.id);
        names.push_back(m.name);
        for (const auto& name : names) {
            const auto [it, fresh] = owner.emplace(normalised(name), m.id);
            EXPECT_EQ(it->second, m.id) << "\"" << name << "\"";
            EXPECT_EQ(find_in_catalogue(name), &m) << name;
        }
    }
}

}  // namespace
}  // namespace gambrel
