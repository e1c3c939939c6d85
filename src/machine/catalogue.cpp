#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/embedded.hpp"

namespace gambrel {
namespace {

// Names compare without regard to case, blanks, dashes and the vendor's name, because drivers, profilers and people
// differ in all four: "NVIDIA A100-PCIE-40GB", "A100 PCIe 40GB", "a100-pcie-40gb".
std::string key_of(std::string_view name) {
    std::string key;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (key.starts_with("nvidia")) key.erase(0, 6);
    return key;
}

struct Catalogue {
    std::vector<Machine> machines;
    std::map<std::string, std::size_t> index;

    Catalogue() {
        for (const auto& [name, text] : embedded("machines")) {
            auto machine = parse_machine(text, fmt::format("data/machines/{}.json", name));
            // The build's own data: a fault here is our bug, and the tests load every file.
            if (!machine) throw std::logic_error(to_text(machine.error()));
            machine->source = "catalogue";
            machine->made_from = MachineSource::catalogue;
            machines.push_back(std::move(*machine));
        }
        std::sort(machines.begin(), machines.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
        for (std::size_t i = 0; i < machines.size(); ++i) {
            index.emplace(key_of(machines[i].id), i);
            index.emplace(key_of(machines[i].name), i);
            for (const auto& alias : machines[i].aliases) index.emplace(key_of(alias), i);
        }
    }
};

const Catalogue& the_catalogue() {
    static const Catalogue instance;
    return instance;
}

}  // namespace

std::span<const Machine> catalogue() { return the_catalogue().machines; }

const Machine* find_in_catalogue(std::string_view name) {
    const auto& c = the_catalogue();
    const auto it = c.index.find(key_of(name));
    return it == c.index.end() ? nullptr : &c.machines[it->second];
}

Result<Machine> machine_from(const std::string& name_or_path) {
    if (const Machine* known = find_in_catalogue(name_or_path)) return *known;
    std::error_code ignored;
    if (std::filesystem::exists(name_or_path, ignored)) return load_machine_file(name_or_path);
    if (name_or_path.ends_with(".json")) return failure(name_or_path, "no such file");
    std::vector<std::string> names;
    for (const auto& m : catalogue()) {
        names.push_back(m.id);
        names.insert(names.end(), m.aliases.begin(), m.aliases.end());
    }
    return failure(name_or_path,
                   fmt::format("neither one of the {} machines that `gambrel machines` lists nor a file{}",
                               catalogue().size(), did_you_mean(name_or_path, names)));
}

}  // namespace gambrel
