#include "app/network_flags.hpp"

#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/analysis_flags.hpp"

namespace gambrel::app {
namespace {

template <class T>
Result<std::optional<T>> named(const std::string& text, std::string_view flag,
                               std::optional<T> (*from)(std::string_view), std::string_view expected) {
    if (text.empty()) return std::optional<T>{};
    if (const auto value = from(text)) return value;
    return failure(std::string(flag), fmt::format("\"{}\": expected {}", text, expected));
}

Result<Network> network_named(const NetworkFlags& flags, std::optional<Precision> precision) {
    const bool file = flags.network.ends_with(".onnx") || std::filesystem::exists(flags.network);
    if (!file) {
        BuiltinOptions options;
        if (flags.batch > 0) options.batch = flags.batch;
        if (flags.sequence > 0) options.sequence = flags.sequence;
        if (!flags.shapes.empty())
            return failure("--shape", "is for inputs of ONNX files; a built-in network takes --batch");
        return builtin_network(flags.network, options);
    }
    OnnxOptions options;
    if (flags.batch > 0) options.batch = flags.batch;
    options.precision = precision;
    for (const std::string& text : flags.shapes) {
        auto shape = shape_from(text);
        if (!shape) return tl::unexpected(shape.error());
        options.shapes.push_back(*shape);
    }
    return load_onnx(flags.network, options);
}

}  // namespace

void NetworkFlags::add_to(CLI::App& command) {
    command.add_option("NETWORK", network);
    add_options_to(command);
}

void NetworkFlags::add_options_to(CLI::App& command) {
    command.add_option("--layers", layers);
    command.add_option("--batch", batch)->check(CLI::PositiveNumber);
    command.add_option("--sequence", sequence)->check(CLI::PositiveNumber);
    command.add_option("--shape", shapes)->allow_extra_args(false);
    command.add_option("--precision", precision);
    command.add_option("--layout", layout);
    command.add_option("--pass", pass);
    command.add_flag("--training", training);
}

Result<Workload> workload_of(const NetworkFlags& flags) {
    const auto precision =
        named<Precision>(flags.precision, "--precision", precision_from, "fp64, fp32, tf32, fp16, bf16, fp8 or int8");
    const auto layout = named<Layout>(flags.layout, "--layout", layout_from, "nchw or nhwc");
    const auto pass = named<Pass>(flags.pass, "--pass", pass_from, "fwd, dgrad or wgrad");
    Errors wrong;
    if (!precision) wrong.push_back(precision.error().front());
    if (!layout) wrong.push_back(layout.error().front());
    if (!pass) wrong.push_back(pass.error().front());
    if (flags.network.empty() == flags.layers.empty())
        wrong.push_back(
            {"NETWORK", "give a network (a built-in name or an .onnx file) or --layers F.csv, one of the two"});
    if (!wrong.empty()) return tl::unexpected(wrong);
    Workload work;
    if (!flags.layers.empty()) {
        LayerTableOptions options;
        if (*precision) options.precision = **precision;
        auto table = load_layer_table(flags.layers, options);
        if (!table) return tl::unexpected(table.error());
        work.title = std::filesystem::path(flags.layers).filename().string();
        work.notes = table->notes;
        work.table = std::move(*table);
        return work;
    }
    auto network = network_named(flags, *precision);
    if (!network) return tl::unexpected(network.error());
    if (*precision && !flags.network.ends_with(".onnx")) *network = with_precision(std::move(*network), **precision);
    if (*layout) *network = with_layout(std::move(*network), **layout);
    if (flags.training || (*pass && **pass != Pass::fwd)) *network = training(*network);
    if (*pass) std::erase_if(network->layers, [&](const Layer& l) { return l.pass != **pass; });
    network->layers = merged(network->layers);
    work.title = network->name;
    work.notes = network->notes;
    work.network = std::move(*network);
    return work;
}

void MachineFlags::add_to(CLI::App& command) {
    command.add_option("--machine,--gpu", machine);
    command.add_option("--clock", clock);
    command.add_option("--roofs", roofs)->check(CLI::IsMember({"theoretical", "measured"}));
}

Result<ChosenMachine> machine_of(const MachineFlags& flags) {
    ChosenMachine chosen;
    if (!flags.machine.empty()) {
        auto machine = machine_from(flags.machine);
        if (!machine) return tl::unexpected(machine.error());
        chosen.machine = std::move(*machine);
    }
    const auto clock = clock_of(flags.clock);
    if (!clock) return tl::unexpected(clock.error());
    chosen.clock = *clock;
    chosen.roofs = flags.roofs == "measured" ? Roofs::measured : Roofs::theoretical;
    return chosen;
}

Result<Tile> tile_from(const std::string& text) {
    Tile tile;
    std::int32_t* const sides[] = {&tile.m, &tile.n, &tile.k};
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    for (std::size_t i = 0; i < 3 && at < end; ++i) {
        const auto [next, fault] = std::from_chars(at, end, *sides[i]);
        if (fault != std::errc{}) break;
        at = next < end && *next == 'x' ? next + 1 : next;
        if (at == next && next < end) break;
    }
    if (at != end || tile.m < 8 || tile.n < 8 || tile.m > 512 || tile.n > 512 || tile.k < 0 || tile.k > 256)
        return failure("--tile",
                       fmt::format("\"{}\": expected MxN or MxNxK, such as 128x64x8, sides of 8 to 512", text));
    return tile;
}

}  // namespace gambrel::app
