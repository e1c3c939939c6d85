#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/launch_model.hpp"

namespace gambrel::trace_detail {
namespace {

// Boards that driver and profiler name by NVIDIA's number of the board, not by what is sold.
struct BoardNumber {
    std::string_view board, machine;
};
constexpr std::array<BoardNumber, 5> kBoards = {{
    {"PG509", "a100-sxm4-40gb"},
    {"PG509", "a100-sxm4-80gb"},
    {"PG506", "a100-sxm4-40gb"},
    {"PG510", "a100-sxm4-80gb"},
    {"PG520", "h100-sxm"},
}};

bool fits(const Machine& machine, const Timeline::Device& device) {
    if (device.compute_capability && machine.compute_capability != device.compute_capability) return false;
    if (device.sms > 0 && machine.sm.sms && std::abs(machine.sm.sms->value - device.sms) > 0.5) return false;
    const MemoryLevel* dram = machine.find(Level::dram);
    if (!device.memory || !dram || !dram->capacity) return true;
    // Drivers keep some of the memory for themselves, and makers count in both 1000s and 1024s.
    const double share = *device.memory / dram->capacity->value;
    return share > 0.88 && share < 1.03;
}

std::vector<const Machine*> fitting(const Timeline::Device& device) {
    std::vector<const Machine*> out;
    if (device.compute_capability) {
        out = machines_of(*device.compute_capability);
    } else {
        for (const Machine& machine : catalogue()) out.push_back(&machine);
    }
    std::erase_if(out, [&](const Machine* machine) { return !fits(*machine, device); });
    return out;
}

std::string ids(const std::vector<const Machine*>& machines) {
    std::vector<std::string> out;
    for (const Machine* m : machines) out.push_back(m->id);
    return fmt::format("{}", fmt::join(out, ", "));
}

const Machine* by_board(const Timeline::Device& device, Errors& notes) {
    for (const auto& [board, id] : kBoards) {
        if (device.name.find(board) == std::string::npos) continue;
        const Machine* machine = find_in_catalogue(id);
        if (machine && fits(*machine, device)) {
            notes.push_back({device.name, fmt::format("is board {}, judged as {}", board, machine->name)});
            return machine;
        }
    }
    return nullptr;
}

bool is_of_another_maker(std::string_view name) {
    for (const std::string_view maker : {"AMD", "Radeon", "Instinct", "MI100", "MI210", "MI250", "MI300", "MI325",
                                         "MI350", "Intel", "Gaudi", "Ascend"})
        if (name.find(maker) != std::string_view::npos) return true;
    return false;
}

Result<Machine> machine_of(const Timeline::Device& device, Errors& notes) {
    const bool described = device.compute_capability || device.memory;
    const Machine* known = device.name.empty() ? nullptr : find_in_catalogue(device.name);
    if (known && fits(*known, device)) return *known;
    if (const Machine* board = by_board(device, notes)) return *board;
    if (known) return *known;  // a part of it: MIG, or memory that the driver keeps
    if (is_of_another_maker(device.name))
        return failure(
            "--machine",
            fmt::format("\"{}\" is not an NVIDIA GPU: its roofs are not in the catalogue, and the model does not "
                        "know it; describe it in a machine file and give --machine FILE for its times",
                        device.name));
    const auto candidates = described ? fitting(device) : machines_like(device.name);
    const std::string who =
        device.name.empty() ? "the trace names no GPU" : "\"" + device.name + "\" is not in the catalogue";
    std::string facts;
    if (device.compute_capability) facts += " of compute capability " + to_text(*device.compute_capability);
    if (device.memory) facts += " with " + binary_text(Bytes{std::round(device.memory->value() / 0x1p30) * 0x1p30});
    if (!described && candidates.empty())
        return failure("--machine", who + ": name it with --machine NAME; `gambrel machines` lists them");
    if (candidates.empty())
        return failure("--machine",
                       fmt::format("{}, and no machine of it is a GPU{}; describe it in a machine file and "
                                   "give --machine FILE",
                                   who, facts));
    if (described && candidates.size() == 1) {
        notes.push_back({device.name, fmt::format("judged as {}, the only GPU of the catalogue{}",
                                                  candidates.front()->name, facts)});
        return *candidates.front();
    }
    return failure(
        "--machine",
        described ? fmt::format("{}; a GPU{} may be one of {}: choose with --machine NAME", who, facts, ids(candidates))
                  : fmt::format("{}; similar: {}; choose with --machine NAME", who, ids(candidates)));
}

}  // namespace

Result<std::vector<Machine>> machines_of(const Timeline& timeline, const Machine* chosen, Errors& notes) {
    std::vector<Machine> out;
    Errors errors;
    for (const auto& device : timeline.devices) {
        if (chosen) {
            if (const Machine* known = device.name.empty() ? nullptr : find_in_catalogue(device.name);
                known && known->id != chosen->id && chosen->made_from == MachineSource::catalogue)
                notes.push_back({device.name, fmt::format("the trace names this GPU, but it is judged as {}, which "
                                                          "--machine names: percentages of its roofs mean little",
                                                          chosen->name)});
            out.push_back(*chosen);
            continue;
        }
        auto machine = machine_of(device, notes);
        if (machine)
            out.push_back(std::move(*machine));
        else
            errors.insert(errors.end(), machine.error().begin(), machine.error().end());
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

}  // namespace gambrel::trace_detail
