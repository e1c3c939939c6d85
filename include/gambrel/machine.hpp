// What hardware gives: arithmetic by pipe, memory by level, organisation and clocks, each number with its origin and
// citation. Invariant: rates are stored per cycle where the hardware is clocked, so every ceiling can be asked for at
// the clock that a kernel really ran at. Runs nothing; the catalogue is compiled into the library.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>
#include <gambrel/units.hpp>

namespace gambrel {

// The words that machines, kernels and networks share: where a number comes from, which memory level it belongs to,
// and which arithmetic pipe does the work. Enumerations and their names, nothing else.

// Of hardware: datasheet, measured, derived, assumed, or simulated (a sim: device). Of what a kernel did: measured,
// modelled or simulated; its work may be derived from the layer, its clock assumed. Never mixed silently.
enum class Origin : std::uint8_t { datasheet, measured, derived, assumed, modelled, simulated };
inline constexpr std::size_t kOrigins = 6;

// From the arithmetic outwards. `shared` is beside L1, not between L1 and the pipes; l3 exists on hosts.
enum class Level : std::uint8_t { shared, l1, l2, l3, dram };
inline constexpr std::size_t kLevels = 5;

// The ordinary pipes, then the matrix units (Tensor Cores) by the type of their inputs. FP16 and FP8 inputs accumulate
// in FP32 unless the name says acc16: consumer GPUs run the two at different rates.
enum class Pipe : std::uint8_t {
    fp64,
    fp32,
    fp16,
    bf16,
    int32,
    tensor_fp64,
    tensor_tf32,
    tensor_bf16,
    tensor_fp16,
    tensor_fp16_acc16,
    tensor_fp8,
    tensor_fp8_acc16,
    tensor_fp6,
    tensor_fp4,
    tensor_int8,
    tensor_int4,
    tensor_int1,
};
inline constexpr std::size_t kPipes = 17;

template <class T>
struct PerLevel : std::array<T, kLevels> {
    constexpr T& operator[](Level l) { return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l)); }
    constexpr const T& operator[](Level l) const {
        return std::array<T, kLevels>::operator[](static_cast<std::size_t>(l));
    }
};
template <class T>
struct PerPipe : std::array<T, kPipes> {
    constexpr T& operator[](Pipe p) { return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p)); }
    constexpr const T& operator[](Pipe p) const {
        return std::array<T, kPipes>::operator[](static_cast<std::size_t>(p));
    }
};

constexpr std::array<Level, kLevels> all_levels() {
    return {Level::shared, Level::l1, Level::l2, Level::l3, Level::dram};
}
constexpr std::array<Pipe, kPipes> all_pipes() {
    std::array<Pipe, kPipes> pipes{};
    for (std::size_t i = 0; i < kPipes; ++i) pipes[i] = static_cast<Pipe>(i);
    return pipes;
}
constexpr bool is_tensor(Pipe p) { return p >= Pipe::tensor_fp64; }
// Integer work is work, but not FLOP: it is kept apart from FLOP totals.
constexpr bool is_integer(Pipe p) {
    return p == Pipe::int32 || p == Pipe::tensor_int8 || p == Pipe::tensor_int4 || p == Pipe::tensor_int1;
}

std::string_view name(Origin origin);  // "datasheet"
std::string_view name(Level level);    // "L1", "DRAM"
std::string_view name(Pipe pipe);      // "fp32", "tensor_fp16"
std::string_view title(Pipe pipe);     // for people: "FP32", "Tensor FP16"

std::optional<Origin> origin_from(std::string_view name);
std::optional<Level> level_from(std::string_view name);
std::optional<Pipe> pipe_from(std::string_view name);

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

// How complete a machine is: a report names a GPU and knows a few of its attributes, the others know all that there is.
enum class MachineSource : std::uint8_t { report, catalogue, file, measurement, design };

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
    MachineSource made_from = MachineSource::report;
    std::string source;  // for people: "catalogue", the file it was read from, or the report it was built from

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

// JSON to Machine and back; docs/formats.md has the fields. All faults are reported at once.
Result<Machine> parse_machine(std::string_view json, std::string_view source_name);
Result<Machine> load_machine_file(const std::string& path);
std::string to_json(const Machine& machine);

// The built-in machines, sorted by id.
std::span<const Machine> catalogue();
// By id, alias, or the name that a driver prints, without regard to case, order of words and vendor ("RTX 4090",
// "4090", "NVIDIA GeForce RTX 4090"); nullptr if unknown.
const Machine* find_in_catalogue(std::string_view name);
// Every machine whose names hold all words of `words`, in the catalogue's order: "v100" gives six boards.
std::vector<const Machine*> machines_like(std::string_view words);
// For a name that several boards share ("a100"): which board find_in_catalogue takes and which others there are.
// Nothing where the name fits one board alone, and for the path of a file.
std::optional<Error> machine_choice_note(std::string_view name);
// What --machine takes: a catalogue name, or a path to a machine file.
Result<Machine> machine_from(const std::string& name_or_path);

}  // namespace gambrel
