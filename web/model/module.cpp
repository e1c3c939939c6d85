// The model as a module of the page: numbers in, numbers out, through one area of memory that the page writes and
// reads. web/model.ts is the other side.
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <gambrel/inpage.hpp>

#include "base/embedded.hpp"

namespace {

using namespace gambrel;

LiveModel& model(Roofs roofs = Roofs::measured, double near = 0, bool again = false) {
    static LiveModel* one = nullptr;
    if (!one || again) {
        delete one;
        one = new LiveModel(roofs, near);
    }
    return *one;
}
std::vector<double>& area() {
    static std::vector<double> numbers;
    return numbers;
}

DesignFactors factors_at(const double* f) { return {f[0], f[1], f[2], f[3], f[4], f[5]}; }
LiveWork work_at(const double* w) {
    const auto count = [](double n) { return n >= 1 && n < 1e15 ? static_cast<std::int64_t>(n) : 0; };
    LiveWork work{w[0], count(w[1]), count(w[2]), count(w[3])};
    if (w[4] >= 0 && w[4] < kPrecisions) work.precision = static_cast<Precision>(static_cast<std::uint8_t>(w[4]));
    return work;
}

// 0 to 16: a pipe; 32 on: a level; 64 on: no roof is near; -1: none.
double code(const Bound& bound) {
    if (const auto* pipe = std::get_if<Pipe>(&bound)) return static_cast<double>(*pipe);
    if (const auto* level = std::get_if<Level>(&bound)) return 32 + static_cast<double>(*level);
    if (const auto* off = std::get_if<OffRoof>(&bound)) return 64 + static_cast<double>(*off);
    return -1;
}

std::optional<std::size_t> chosen(int machine) {
    return machine >= 0 ? std::optional(static_cast<std::size_t>(machine)) : std::nullopt;
}

}  // namespace

#define EXPORTED(name) extern "C" __attribute__((export_name(#name)))

// Where the page may write `count` numbers.
EXPORTED(area) double* area_of(int count) {
    area().resize(static_cast<std::size_t>(count));
    return area().data();
}
EXPORTED(start) void start(int measured_roofs, double near) {
    model(measured_roofs ? Roofs::measured : Roofs::theoretical, near, true);
}
// From the area; 0 if the numbers are not those of a machine.
EXPORTED(add_machine) int add_machine() {
    auto machine = machine_from_numbers(area());
    if (!machine) return 0;
    model().add_machine(std::move(*machine));
    return 1;
}
EXPORTED(add_layer) int add_layer(int machine, double clock) {
    auto layer = layer_from_numbers(area());
    if (!layer || machine < 0 || static_cast<std::size_t>(machine) >= model().machines()) return 0;
    model().add_layer(std::move(*layer), static_cast<std::size_t>(machine),
                      clock > 0 ? std::optional(Frequency{clock}) : std::nullopt);
    return 1;
}
// From the area: the characters of a configuration, then the numbers of the recipe.
EXPORTED(set_recipe) int set_recipe(int characters, int machine, double clock) {
    const std::vector<double>& in = area();
    const auto text = static_cast<std::size_t>(characters);
    if (text > in.size() || machine < 0 || static_cast<std::size_t>(machine) >= model().machines()) return 0;
    auto recipe = recipe_from_numbers(std::span(in).subspan(text));
    if (!recipe) return 0;
    for (std::size_t i = 0; i < text; ++i)
        recipe->configuration += static_cast<char>(static_cast<unsigned char>(in[i]));
    return model().set_recipe(std::move(*recipe), static_cast<std::size_t>(machine),
                              clock > 0 ? std::optional(Frequency{clock}) : std::nullopt)
               ? 1
               : 0;
}
// Factors and work from the area, results into it: 18 numbers a layer.
EXPORTED(evaluate) double* evaluate(int machine) {
    const DesignFactors factors = factors_at(area().data());
    const auto& layers = model().evaluate(factors, work_at(area().data() + kDesignFactors), chosen(machine));
    std::vector<double>& out = area();
    out.clear();
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const LiveLayer& l = layers[i];
        const Layer& of = model().layer(i);
        for (const double number :
             {static_cast<double>(l.refusal), l.time.value(), l.time_low.value(), l.time_high.value(), l.work.value(),
              l.l1.value(), l.l2.value(), l.dram.value(), static_cast<double>(l.waits_for), static_cast<double>(l.pipe),
              code(l.bound), l.shortest.value(), static_cast<double>(of.pass), of.repeat, static_cast<double>(l.tile.m),
              static_cast<double>(l.tile.n), static_cast<double>(l.tile.k), code(l.nearest)})
            out.push_back(number);
    }
    return out.data();
}
EXPORTED(layers) int layers() { return static_cast<int>(model().layers()); }
// The characters of a layer's name into the area; their number.
EXPORTED(layer_name) int layer_name(int layer) {
    const std::string& name = model().layer(static_cast<std::size_t>(layer)).name;
    area().assign(name.size(), 0);
    for (std::size_t i = 0; i < name.size(); ++i) area()[i] = static_cast<unsigned char>(name[i]);
    return static_cast<int>(name.size());
}
// What the last evaluation comes to: tokens, samples, bytes of memory, and how many the GPU has.
EXPORTED(run) double* run(int machine) {
    const LiveRun r = model().run(chosen(machine));
    area() = {r.tokens, r.samples, r.memory.value(), r.capacity.value()};
    return area().data();
}
// Factors from the area, roofs into it: pipes, then levels; theoretical, then measured.
EXPORTED(roofs) double* roofs(int machine) {
    const DesignFactors factors = factors_at(area().data());
    std::vector<double>& out = area();
    out.clear();
    for (const Roofs kind : {Roofs::theoretical, Roofs::measured}) {
        const RoofSet set = model().roofs(static_cast<std::size_t>(machine), kind, factors);
        for (const FlopRate roof : set.pipes) out.push_back(roof.value());
        for (const Bandwidth roof : set.levels) out.push_back(roof.value());
    }
    return out.data();
}
// What a factor of 1 is: SMs, clock, L2 capacity, L2 and DRAM bandwidth; all 0 where the model lacks a number.
EXPORTED(start_values) double* start_values(int machine) {
    const ModelInputs* in = model().inputs(static_cast<std::size_t>(machine));
    std::vector<double>& out = area();
    out.assign(5, 0);
    if (in)
        out = {in->sms, in->clock.value(), in->l2_capacity.value(), in->l2_bandwidth.value(),
               in->dram_bandwidth.value()};
    return out.data();
}

// Nothing here throws on numbers that the library wrote; data that the build embeds is checked by its tests.
extern "C" void* __cxa_allocate_exception(std::size_t) { std::abort(); }
// Objects of the one thread live as long as the module.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
extern "C" void __cxa_throw(void*, void*, void (*)(void*)) { std::abort(); }

// The two sets of files that the model reads; the library's index names them all.
namespace gambrel {
std::span<const EmbeddedText> embedded_model();
std::span<const EmbeddedText> embedded_architectures();
std::span<const EmbeddedText> embedded(std::string_view set) {
    if (set == "model") return embedded_model();
    if (set == "architectures") return embedded_architectures();
    return {};
}
}  // namespace gambrel
