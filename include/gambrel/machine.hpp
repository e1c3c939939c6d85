// What hardware gives: arithmetic by pipe, memory by level, organisation and clocks, each number with its origin and
// citation. Invariant: rates are stored per cycle where the hardware is clocked, so every ceiling can be asked for at
// the clock that a kernel really ran at. Runs nothing; the catalogue is compiled into the library.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/error.hpp>
#include <gambrel/units.hpp>
#include <gambrel/vocabulary.hpp>

namespace gambrel {

// A number that never travels without its source. An absent std::optional<Sourced<T>> is an unknown.
template <class T>
struct Sourced {
    T value{};
    Origin origin = Origin::assumed;
    std::string cite;
};
template <class T>
using Fact = std::optional<Sourced<T>>;

struct ComputeCapability {
    int major = 0;
    int minor = 0;
    auto operator<=>(const ComputeCapability&) const = default;
};
std::string to_text(ComputeCapability cc);  // "8.6"
std::optional<ComputeCapability> parse_compute_capability(std::string_view text);

// A ceiling that a benchmark saw or a vendor states, and the clock that it holds at if that is known.
template <class Q>
struct AtClock {
    Sourced<Q> ceiling;
    std::optional<Frequency> clock;
};

struct Arithmetic {            // one pipe
    Fact<FlopPerCycle> dense;  // per SM and cycle, one FMA is two FLOP; zero: the hardware has no such pipe
    Fact<FlopPerCycle> sparse;
    // The vendor's figures; at boost clock unless they say another. The tests check them against the organisation.
    std::optional<AtClock<FlopRate>> stated, stated_sparse;
    std::optional<AtClock<FlopRate>> measured;
};

struct MemoryLevel {
    Level level = Level::dram;
    bool per_sm = false;  // capacity and width belong to one SM, else to the whole device
    Fact<Bytes> capacity;
    Fact<BytesPerCycle> width;  // clocked levels
    Fact<Bandwidth> bandwidth;  // levels with a clock of their own (DRAM), or ceilings known only as a rate
    Fact<double> partitions;
    // Check bits of ECC that lie in this memory beside the data, as a share of it: 1/16 of GDDR with ECC on. Absent or
    // zero: no ECC, or bits in lanes of their own (HBM). A user's switch, so the catalogue has what cards are sold
    // with.
    Fact<double> inline_ecc;
    Fact<Cycles> latency;
    std::optional<AtClock<Bandwidth>> measured;
};

struct Organisation {
    Fact<double> sms, schedulers, max_warps, max_ctas;
    Fact<Bytes> registers, shared_memory, shared_memory_per_cta;
    Fact<Bytes> sector, line;
};

struct Clocks {
    Fact<Frequency> base, boost, memory;
};

// Theoretical: organisation x clock. Measured: what a benchmark reached, theoretical where nothing was measured.
enum class Roofs : std::uint8_t { theoretical, measured };

struct Machine {
    std::string id;    // "v100-sxm2-16gb"
    std::string name;  // "Tesla V100-SXM2-16GB"
    std::vector<std::string> aliases;
    std::string architecture, chip, note;
    std::optional<ComputeCapability> compute_capability;
    Clocks clocks;
    Organisation sm;
    PerPipe<Arithmetic> pipes;
    std::vector<MemoryLevel> levels;
    std::string source;  // "catalogue", the file it was read from, or the report it was built from

    [[nodiscard]] const MemoryLevel* find(Level level) const;
    [[nodiscard]] MemoryLevel& at(Level level);  // adds the level, in order, if it is not there
};

// A ceiling with the clock it holds at and the sentence that says where it comes from. Absent where the machine does
// not know it. On-chip ceilings follow `clock`; without one they are given at boost clock. DRAM does not follow the SM
// clock.
template <class Q>
struct Ceiling {
    Q value{};
    Origin origin = Origin::derived;
    std::string cite;
};
std::optional<Ceiling<FlopRate>> compute_ceiling(const Machine&, Pipe, std::optional<Frequency> clock = {},
                                                 Roofs roofs = Roofs::theoretical, bool sparse = false);
std::optional<Ceiling<Bandwidth>> memory_ceiling(const Machine&, Level, std::optional<Frequency> clock = {},
                                                 Roofs roofs = Roofs::theoretical);

// JSON to Machine and back; docs/formats.md has the fields. All faults are reported at once.
Result<Machine> parse_machine(std::string_view json, std::string_view source_name);
Result<Machine> load_machine_file(const std::string& path);
std::string to_json(const Machine& machine);

// The built-in machines, sorted by id.
std::span<const Machine> catalogue();
// By id, alias, or the name that a driver prints, without regard to case; nullptr if unknown.
const Machine* find_in_catalogue(std::string_view name);
// What --machine takes: a catalogue name, or a path to a machine file.
Result<Machine> machine_from(const std::string& name_or_path);

}  // namespace gambrel
