// make_pages DIR: the pages that the browser tests open. Invented data, so the tests depend on no file and no reader.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "page/whatif_pages.hpp"
#include "report/timeline_sample.hpp"

namespace {

using namespace gambrel;

bool write(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    file.close();
    if (!file) std::fprintf(stderr, "make_pages: %s: cannot be written\n", path.c_str());
    return static_cast<bool>(file);
}

std::string page(const std::string& title, std::vector<PageView> views) {
    PageInput input;
    input.title = title, input.command = "gambrel analyze step.ncu-rep -o page.html", input.views = std::move(views);
    return html_page(input).value();
}

// One step in two phases, with a measured DRAM roof beside the theoretical one, an impossible kernel and a hole.
Analysis two_phases() {
    auto kernels = sample::training_step();
    for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].phase = Symbol(i % 3 == 1 ? "backward" : "forward");
    kernels[4].bytes[Level::dram]->value = Bytes{40e9};  // more than DRAM gives in that time
    kernels[9].bytes[Level::l2].reset();
    kernels[9].reasons = {Symbol("not in the file: L2 bytes")};
    kernels[2].reasons = {Symbol("not in the file: fp64 work")};  // nothing that the verdict needs
    Machine machine = sample::v100_like();
    machine.at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{829e9}, Origin::measured, "a benchmark"}, {}};
    machine.pipes[Pipe::fp32].measured = AtClock<FlopRate>{{FlopRate{12.9e12}, Origin::measured, "a benchmark"}, {}};
    Analysis out = analysis({"", kernels, {machine}});
    out.title = "Segmentation network, training step";
    out.notes = {{"step.ncu-rep", "cut off in the middle; 12 launches were read"}};
    return out;
}

Analysis hostile() {
    std::string giant = "void kernel<";
    while (giant.size() < 10000) giant += "thrust::detail::tuple_of_iterator_references<float&, int>, ";
    const std::vector<std::string> names{"<script>window.hacked = 1</script>",
                                         "</script><img src=x onerror=\"window.hacked = 2\">",
                                         "\"quotes\" and 'others' & &amp; `ticks` ${window.hacked = 3}",
                                         giant + "int>(int)",
                                         "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d kernel \xd8\xb9\xd8\xb1\xd8\xa8",
                                         "override \xe2\x80\xae"
                                         "detrevni",
                                         "bad \xff bytes\x01\n second line",
                                         "__proto__",
                                         "constructor"};
    std::vector<Kernel> kernels;
    double time = 1e-3;
    for (const auto& name : names) {
        kernels.push_back(sample::kernel({name, 3, time *= 0.8, 1e9, 0, 4e8, 3e8, 2e8, 1.3e9}));
        kernels.back().phase = Symbol(name);
    }
    Analysis out = analysis({"", kernels, {sample::v100_like()}});
    out.title = "<script>window.hacked = 4</script> & \"title\"";
    out.notes = {{"<b>file</b>", "<img src=x onerror='window.hacked = 5'>"}};
    return out;
}

Chart sweep() {
    Chart chart{"Bandwidth by working set",
                "measured",
                "Medians of 9 runs.",
                {"Working set", "B", true, true},
                {"Bandwidth", "B/s", true, false},
                {{"read", {}, true, {}}},
                {}};
    for (double size = 4096; size <= 1e9; size *= 2) {
        const double rate = size < 200e3 ? 12e12 : size < 6e6 ? 2.6e12 : 0.83e12;
        chart.series[0].marks.push_back({size, rate, rate * 0.95, rate * 1.04, ""});
    }
    chart.guides = {{"L1 12 TB/s", 12e12, 4096, 131072, "L1"},
                    {"L2 2.6 TB/s", 2.6e12, 262144, 4194304, "L2"},
                    {"DRAM 830 GB/s", 0.83e12, 8388608, 1e9, "DRAM"}};
    return chart;
}

Chart sensitivity() {
    Chart chart{"What to scale",
                "modelled",
                "",
                {"Factor on the resource", "", true, false},
                {"Speed-up", "", false, false},
                {},
                {}};
    for (const auto& [name, limit] : {std::pair{"DRAM bandwidth", 1.9}, {"SMs", 1.4}, {"L2 bandwidth", 1.05}}) {
        ChartSeries series{name, {}, true, {}};
        for (double f = 1; f <= 4; f += 0.5) series.marks.push_back({f, std::min(f, limit), {}, {}, ""});
        chart.series.push_back(series);
    }
    return chart;
}

Chart pareto() {
    Chart chart{"Designs",
                "modelled",
                "",
                {"Area", "", false, false},
                {"Time", "s", false, false},
                {{"all", {}, false, {}}, {"front", {}, true, {}}},
                {}};
    for (int i = 0; i < 60; ++i) {
        const double area = 1 + 0.05 * i, time = 1e-3 * (1 / area + 0.3 * std::fabs(std::sin(i * 1.7)));
        chart.series[0].marks.push_back({area, time, {}, {}, fmt::format("design {}", i)});
        if (i % 9 == 0) chart.series[1].marks.push_back({area, 1e-3 / area, {}, {}, fmt::format("design {}", i)});
    }
    return chart;
}

std::vector<PageLayer> layers(std::size_t rows) {
    const char* bounds[] = {"DRAM", "L2", "Tensor FP16", "DRAM latency"};
    std::vector<PageLayer> out;
    for (std::size_t i = 0; i < 54; ++i)
        out.push_back({fmt::format("layer{}.conv{}", i / 6, i % 6), "64x56x56, 3x3, tile 128x64x8",
                       Seconds{1e-5 * static_cast<double>(1 + i * 7 % 13)}, bounds[i * 7 % 5 % 4],
                       i < rows ? std::optional<std::size_t>(i) : std::nullopt});
    return out;
}

// The step after a change: less traffic in one kernel, another faster for no reason, one gone, one new.
Comparison changed(const Analysis& before) {
    auto kernels = sample::training_step();
    kernels[3].bytes[Level::dram]->value = Bytes{4.9e9}, kernels[3].time->value = Seconds{7.4e-3};
    kernels[5].time->value = Seconds{5.1e-3};
    kernels.erase(kernels.begin() + 8);
    kernels.push_back(sample::kernel({"fused_softmax_kernel", 2, 0.5e-3, 0.3e9, 0, 0.5e9, 0.4e9, 0.3e9}));
    Analysis after = analysis({"", kernels, before.machines});
    Analysis plain = analysis({"", sample::training_step(), before.machines});
    plain.title = "step.ncu-rep", after.title = "fused.ncu-rep";
    return comparison(std::move(plain), std::move(after));
}

// A model beside the simulation of the same layers, which counts bytes and no cycles.
Comparison judged() {
    const auto side = [](Origin origin, double factor) {
        auto kernels = sample::training_step();
        for (Kernel& k : kernels) {
            k.time->origin = origin;
            for (const Level l : all_levels())
                if (k.bytes[l]) k.bytes[l]->origin = origin;
            if (k.bytes[Level::l2]) k.bytes[Level::l2]->value *= factor;
        }
        Analysis a = analysis({"", kernels, {sample::v100_like()}});
        a.title = std::string(name(origin));
        return a;
    };
    return comparison(side(Origin::modelled, 1), side(Origin::simulated, 1.25));
}

// A GPU that is simulated, so that its sweep is the same each time; one ceiling is made to fail its proof.
Measurement measured() {
    MeasureOptions options;
    options.quick = true;
    auto m = measure("sim:v100,noise=0.02,seed=3", options);
    if (!m) return {};
    for (auto& c : m->ceilings)
        if (!c.primary && c.kind == CeilingKind::bandwidth) {
            c.fault = "the sum of what was read is <b>wrong</b>";
            break;
        }
    m->skipped.push_back({"FP8", "<script>window.hacked = 7</script>", "", ""});
    return *m;
}

ExplorationReport explored() {
    ExploreRequest request;
    request.machine = *find_in_catalogue("v100");
    request.hardware = *model_inputs(request.machine);
    request.workload.add(*builtin_network("alexnet", {8, 128}));
    request.workload.add(*builtin_network("vgg16", {1, 128}));
    request.workload.items[0].layer.name = "<img src=x onerror='window.hacked = 8'>";
    request.space = *parse_space("sms=1:2,dram.bandwidth=1:2,l2.capacity={1,2}", request.machine, request.hardware);
    request.search.target = 1.15;
    return *explore(request);
}

// As `gambrel report` does: views of other pages, with an overview.
std::string joined(const std::vector<std::string>& pages) {
    PageInput input;
    input.title = "One page", input.command = "gambrel report a.html b.html -o one.html", input.overview = true;
    for (const std::string& page : pages) {
        auto views = read_page(page, "page.html");
        if (!views) return to_text(views.error());
        for (SavedView& saved : *views) {
            PageView view;
            view.title = saved.title, view.saved = std::move(saved);
            input.views.push_back(std::move(view));
        }
    }
    return html_page(input).value();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    const std::string dir = std::string(argv[1]) + "/";
    const Analysis step = two_phases(), many = sample::many(10000), bad = hostile(), toy = sample::toy();
    const PageView all[] = {{"Roofline", &step, nullptr, {}, {}},
                            {"Predicted", &step, nullptr, layers(step.rows.size()), {}},
                            {"Measured", nullptr, nullptr, {}, {sweep()}},
                            {"Explored", nullptr, nullptr, {}, {sensitivity(), pareto()}}};
    // Two ranks, drawn as they ran; and one that is too long for that.
    const Analysis traced = sample::traced(2, 2, 200), long_trace = sample::traced(1, 2, 30000);
    const Comparison change = changed(step);
    const Comparison bytes_only = judged();
    const Measurement m = measured();
    const Analysis alone = machine_analysis(measured_machine(m), "Measured Roofline");
    const ExplorationReport designs = explored();
    const Comparison moved = comparison(design_analysis(designs, designs.designs.front()),
                                        design_analysis(designs, *recommended_design(designs)), {MatchBy::layer});
    const std::string measured_page = page("Measured", {measure_view(m, alone)});
    const std::string explored_page = page("Explored", {explore_view(designs, &moved)});
    const std::string step_page = page(step.title, {all[0]});
    const bool ok = write(dir + "compared.html", page("Before and after", {{"Change", nullptr, &change, {}, {}}})) &&
                    write(dir + "judged.html", page("Judged", {{"Judged", nullptr, &bytes_only, {}, {}}})) &&
                    write(dir + "step.html", step_page) && write(dir + "measured.html", measured_page) &&
                    write(dir + "explored.html", explored_page) &&
                    write(dir + "joined.html", joined({measured_page, step_page, explored_page})) &&
                    write(dir + "views.html", page("The whole product", {all[0], all[1], all[2], all[3]})) &&
                    write(dir + "many.html", page(many.title, {{"many", &many, nullptr, {}, {}}})) &&
                    write(dir + "hostile.html", page(bad.title, {{bad.title, &bad, nullptr, {}, {}}})) &&
                    write(dir + "toy.html", page(toy.title, {{"toy", &toy, nullptr, {}, {}}})) &&
                    write(dir + "traced.html", page("Trace", {{"Trace", &traced, nullptr, {}, {}}})) &&
                    write(dir + "long_trace.html", page("Long", {{"Long", &long_trace, nullptr, {}, {}}})) &&
                    write(dir + "empty.html", page("", {}));
    bool all_written = ok;
    for (const auto& [name, bytes] : test::whatif_pages()) all_written = write(dir + name, bytes) && all_written;
    return all_written ? 0 : 1;
}
