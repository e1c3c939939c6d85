// What hardware gives: arithmetic by pipe, memory by level, organisation and clocks, each number with its origin and
// citation. Invariant: rates are stored per cycle where the hardware is clocked, so every ceiling can be asked for at
// the clock that a kernel really ran at. Runs nothing; the catalogue is compiled into the library.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/architecture.hpp>
#include <gambrel/base.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

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
    // Bytes that share check bits of ECC, wherever these lie: what is written in part must be read first. Absent: no
    // ECC.
    Fact<Bytes> ecc_block;
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

// How complete a machine is: a report names a GPU and knows a few of its attributes, the others know all that there is.
enum class MachineSource : std::uint8_t { report, catalogue, file, measurement, design };

struct Machine {
    std::string id;    // "v100-sxm2-16gb"
    std::string name;  // "Tesla V100-SXM2-16GB"
    std::vector<std::string> aliases;
    std::string architecture, chip, note;
    std::string partial;  // why its measurement is not complete, such as "interrupted after 2 s"; "" if it is
    std::optional<ComputeCapability> compute_capability;
    Clocks clocks;
    Fact<double> board_power;  // W; the limit that the board is sold with
    // From the end of one kernel of a stream to the start of the next, with the host and driver that the board was seen
    // with. Absent: the model's constant.
    Fact<Seconds> launch;
    // Images or filters up to which the library that the board was seen with multiplies spectra as vectors. Absent: as
    // the architecture says.
    Fact<double> fourier_vectors;
    Organisation sm;
    PerPipe<Arithmetic> pipes;
    std::vector<MemoryLevel> levels;
    MachineSource made_from = MachineSource::report;
    std::string source;  // for people: "catalogue", the file it was read from, or the report it was built from
    // Instead of the built-in one of its compute capability: a generation that does not exist yet.
    std::shared_ptr<const Architecture> own_architecture;

    [[nodiscard]] const MemoryLevel* find(Level level) const;
    [[nodiscard]] MemoryLevel& at(Level level);  // adds the level, in order, if it is not there
};

// A ceiling with the clock it holds at and the sentence that says where it comes from. Absent where the machine does
// not know it. On-chip ceilings follow `clock`; without one they are given at boost clock. DRAM does not follow the SM
// clock.
template <class Q>
using Ceiling = Sourced<Q>;
std::optional<Ceiling<FlopRate>> compute_ceiling(const Machine&, Pipe, std::optional<Frequency> clock = {},
                                                 Roofs roofs = Roofs::theoretical, bool sparse = false);
std::optional<Ceiling<Bandwidth>> memory_ceiling(const Machine&, Level, std::optional<Frequency> clock = {},
                                                 Roofs roofs = Roofs::theoretical);
// The ceiling of the bytes that the level's counters count, which `Kernel` carries. It differs where the counter of L2
// adds the lookups between its halves: those are no part of a bandwidth that a benchmark measured.
std::optional<Ceiling<Bandwidth>> counter_ceiling(const Machine&, Level, std::optional<Frequency> clock = {},
                                                  Roofs roofs = Roofs::theoretical);

// JSON to Machine and back; docs/formats.md has the fields. All faults are reported at once.
Result<Machine> parse_machine(std::string_view json, std::string_view source_name);
Result<Machine> load_machine_file(const std::string& path);
std::string to_json(const Machine& machine);

// The machine's own one, else that of its compute capability, else the newest that is not newer; without a compute
// capability the newest of all (missing_numbers reports such machines).
const Architecture& architecture_of(const Machine& machine);

// The numbers that mapping, model and simulator need. This is the one place that fills in what a machine file lacks.
enum class Needed : std::uint8_t {
    sms,
    clock,
    schedulers,
    max_warps,
    max_ctas,
    registers,
    shared_memory,
    shared_memory_per_cta,
    l1_capacity,
    l2_capacity,
    shared_width,
    l1_width,
    l2_bandwidth,
    dram_bandwidth,
    l1_latency,
    l2_latency,
    dram_latency,
};
inline constexpr std::size_t kNeeded = 17;
// In base units: the machine's number, else what is assumed for it; 0 where nothing can be, which missing_numbers says.
double needed(const Machine& machine, Needed number);

struct Assumption {
    std::string quantity, value, why;  // "L2 latency", "220 cycles", "..."
};
// What `needed` assumes for this machine, for the output to print.
std::vector<Assumption> assumptions(const Machine& machine);
// All numbers that are missing and that nothing can be assumed for; empty if the machine can be modelled. A CPU has no
// compute capability and is refused here.
Errors missing_numbers(const Machine& machine, bool clock_given = false);

// The built-in machines, sorted by id.
std::span<const Machine> catalogue();
// By id, alias, or the name that a driver prints, without regard to case, order of words and vendor ("RTX 4090",
// "4090", "NVIDIA GeForce RTX 4090"); nullptr if unknown.
const Machine* find_in_catalogue(std::string_view name);
// Ids of the boards that a name which is not in the catalogue may have meant; often none.
std::vector<std::string> similar_in_catalogue(const std::string& name);
// The first `most` of one compute capability, in the order of the catalogue. Others are not read, which would take most
// of the time of a short command.
std::vector<const Machine*> machines_of(ComputeCapability capability, std::size_t most = static_cast<std::size_t>(-1));
// Every machine whose names hold all words of `words`, in the catalogue's order: "v100" gives six boards.
std::vector<const Machine*> machines_like(std::string_view words);
// For a name that several boards share ("a100"): which board find_in_catalogue takes and which others there are.
// Nothing where the name fits one board alone, and for the path of a file.
std::optional<Error> machine_choice_note(std::string_view name);
// What --machine takes: a catalogue name, or a path to a machine file.
Result<Machine> machine_from(const std::string& name_or_path);

}  // namespace gambrel
