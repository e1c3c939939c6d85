#include "app/network_flags.hpp"

#include <charconv>

#include <fmt/format.h>

namespace gambrel::app {
namespace {

template <class T>
Result<std::optional<T>> named(const std::string& text, std::string_view flag,
                               std::optional<T> (*from)(std::string_view), std::string_view expected) {
    if (text.empty()) return std::optional<T>{};
    if (const auto value = from(text)) return value;
    return failure(std::string(flag), fmt::format("\"{}\": expected {}", text, expected));
}

}  // namespace

void NetworkFlags::add_to(Parser& command) {
    command.add_option("NETWORK", network);
    add_options_to(command);
}

void NetworkFlags::add_options_to(Parser& command) {
    command.add_option("--layers", layers);
    command.add_option("--batch", batch).count();
    command.add_option("--sequence", sequence).count();
    command.add_option("--shape", shapes).one_value();
    command.add_option("--precision", precision);
    command.add_option("--layout", layout);
    command.add_option("--pass", pass);
    command.add_flag("--training", training);
    command.add_option("--phase", phase);
    command.add_option("--context", context).count();
    command.add_option("--tensor-parallel", tensor_parallel).count();
    command.add_option("--fused", fused).one_of({"auto", "none"});
    command.add_option("--kv-precision", kv_precision);
}

void NetworkFlags::add_algorithm_to(Parser& command) {
    algorithm = "fastest";
    chooses_algorithm = true;
    command.add_option("--algorithm", algorithm).one_of({"fastest", "implicit"});
}

bool NetworkFlags::any() const {
    return batch > 0 || sequence > 0 || context > 0 || tensor_parallel > 0 || training || !shapes.empty() ||
           !(layers + precision + layout + pass + phase + fused + kv_precision).empty();
}

Result<LayerRequest> request_of(const NetworkFlags& flags) {
    LayerRequest request;
    Errors wrong;
    const auto take = [&](auto&& result, auto& into) {
        if (result)
            into = std::move(*result);
        else
            wrong.insert(wrong.end(), result.error().begin(), result.error().end());
    };
    take(named<Precision>(flags.precision, "--precision", precision_from,
                          "fp64, fp32, tf32, fp16, bf16, fp8, int8 or fp4"),
         request.precision);
    take(named<Layout>(flags.layout, "--layout", layout_from, "nchw or nhwc"), request.layout);
    take(named<Pass>(flags.pass, "--pass", pass_from, "fwd, dgrad or wgrad"), request.pass);
    take(named<Phase>(flags.phase, "--phase", phase_from, "prefill, decode or train"), request.phase);
    take(named<Precision>(flags.kv_precision, "--kv-precision", precision_from, "bf16, fp16 or fp8"),
         request.kv_precision);
    for (const std::string& text : flags.shapes) take(shape_from(text), request.shapes.emplace_back());
    if (!flags.layers.empty() && flags.chooses_algorithm && flags.algorithm == "implicit")
        wrong.push_back({"--algorithm", "is for a network; rows of a table have a column algorithm"});
    if (!wrong.empty()) return tl::unexpected(std::move(wrong));
    request.network = flags.network;
    request.table = flags.layers;
    request.batch = flags.batch;
    request.sequence = flags.sequence;
    request.training = flags.training;
    request.context = flags.context;
    request.tensor_parallel = flags.tensor_parallel;
    request.fused = flags.fused != "none";
    request.fastest_algorithm = flags.algorithm == "fastest";
    if (wrong = without_effect(request); !wrong.empty()) return tl::unexpected(std::move(wrong));
    return request;
}

Result<std::shared_ptr<const LayerSet>> layers_of(const NetworkFlags& flags) {
    const auto request = request_of(flags);
    if (!request) return tl::unexpected(request.error());
    auto layers = load_layers(*request);
    if (!layers) return tl::unexpected(layers.error());
    return std::make_shared<const LayerSet>(std::move(*layers));
}

void MachineFlags::add_to(Parser& command) {
    command.add_option("--machine,--gpu", machine);
    command.add_option("--clock", clock);
    command.add_option("--roofs", roofs).one_of({"theoretical", "measured"});
}

Result<EstimatorOptions> estimator_of(const MachineFlags& flags) {
    EstimatorOptions options;
    if (!flags.machine.empty()) {
        auto machine = machine_from(flags.machine);
        if (!machine) return tl::unexpected(machine.error());
        options.machine = std::move(*machine);
    }
    const auto clock = clock_of(flags.clock);
    if (!clock) return tl::unexpected(clock.error());
    options.clock = *clock;
    options.roofs = flags.roofs == "measured" ? Roofs::measured : Roofs::theoretical;
    return options;
}

std::vector<std::string> machine_names(const std::string& machines) {
    std::vector<std::string> names;
    std::size_t begin = 0;
    for (std::size_t comma = machines.find(','); comma != std::string::npos; comma = machines.find(',', begin)) {
        names.push_back(machines.substr(begin, comma - begin));
        begin = comma + 1;
    }
    names.push_back(machines.substr(begin));
    return names;
}

Result<std::optional<Frequency>> clock_of(const std::string& text) {
    if (text.empty()) return std::optional<Frequency>{};
    // --clock takes MHz, as nvidia-smi prints them; a unit may be written all the same.
    const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
    const auto parsed = parse_quantity<Frequency>(bare ? text + " MHz" : text);
    // 1.41 is meant to be GHz, and 1410000 kHz.
    if (!parsed || *parsed < Frequency{10e6} || *parsed > Frequency{10e9})
        return failure("--clock",
                       fmt::format("\"{}\" is not a valid clock: expected a frequency such as 1410 MHz, from "
                                   "10 MHz to 10 GHz",
                                   text));
    return std::optional<Frequency>{*parsed};
}

// Accepts full and shortened names, because the table shows the short ones.
Result<std::optional<Tile>> tile_of(const std::string& text) {
    if (text.empty()) return std::optional<Tile>{};
    Tile tile;
    std::int32_t* const sides[] = {&tile.m, &tile.n, &tile.k};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    std::size_t given = 0;
    while (given < 3) {
        const auto [next, fault] = std::from_chars(at, end, *sides[given]);
        if (fault != std::errc{}) break;
        ++given;
        at = next;
        if (given == 3 || at == end || *at != 'x') break;
        ++at;
    }
    const auto within = [](std::int32_t side, std::int32_t least, std::int32_t most) {
        return least <= side && side <= most;
    };
    const bool whole = at == end && end[-1] != 'x' && given >= 2;
    if (!whole || !within(tile.m, 8, 512) || !within(tile.n, 8, 512) || (given == 3 && !within(tile.k, 1, 256)))
        return failure("--tile", fmt::format("\"{}\": expected MxN or MxNxK, such as 128x64x8, with M and N of 8 to "
                                             "512 and K of 1 to 256",
                                             text));
    return std::optional<Tile>{tile};
}

Errors machine_notes(const std::string& name, const std::string& clock) {
    if (name.empty()) return {};
    Errors notes;
    if (const auto note = machine_choice_note(name)) notes.push_back(*note);
    const auto machine = machine_from(name);
    if (!machine) return notes;
    if (!machine->partial.empty()) notes.push_back({name, "is a partial measurement: " + machine->partial});
    // Boards run some per cent above the boost clock of their datasheet; twice as fast is a slip.
    constexpr double kBeyond = 1.25;
    const auto asked = clock_of(clock);
    const auto& boost = machine->clocks.boost;
    if (asked && *asked && boost && **asked > kBeyond * boost->value)
        notes.push_back({"--clock", fmt::format("{} is above the boost clock of {}, {}", to_text(**asked), machine->id,
                                                to_text(boost->value))});
    return notes;
}

}  // namespace gambrel::app
