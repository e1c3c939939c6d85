#include "page/whatif_pages.hpp"

#include <array>
#include <functional>

#include <fmt/format.h>
#include <gambrel/report.hpp>

#include "explore/evaluator.hpp"

namespace gambrel::test {
namespace {

constexpr const char* kStart = "v100-sxm2-16gb";

LayerRequest asked(const std::string& network, std::int64_t batch, std::int64_t sequence = 0,
                   std::optional<Precision> precision = {}) {
    LayerRequest request;
    request.network = network, request.batch = batch, request.sequence = sequence, request.precision = precision;
    return request;
}
LayerRequest decoding(std::int64_t batch, std::int64_t context, std::optional<Precision> precision = {}) {
    LayerRequest request = asked("llama-3-8b", batch, 0, precision);
    request.phase = Phase::decode, request.context = context;
    return request;
}
Estimates estimated(const LayerRequest& request, const std::string& gpu) {
    EstimatorOptions options;
    options.machine = *find_in_catalogue(gpu);
    return *estimate(std::make_shared<const LayerSet>(*load_layers(request)), options);
}
std::string page_of(const Estimates& estimates) {
    Run run = to_run(estimates);
    AnalysisOptions options;
    options.grouping = Grouping::launch, options.roofline.roofs = estimates.options.roofs;
    const Analysis a = analysis(std::move(run), options);
    return result_page(estimates, a, {"gambrel predict NETWORK -o page.html", Theme::light}).value();
}

using Rows = std::vector<std::array<double, 4>>;  // time, bytes at L1, L2 and DRAM
Rows rows_of(const Estimates& estimates) {
    Rows rows;
    for (const Kernel& k : to_run(estimates).kernels)
        rows.push_back({k.time->value.value(), k.bytes[Level::l1]->value.value(), k.bytes[Level::l2]->value.value(),
                        k.bytes[Level::dram]->value.value()});
    return rows;
}

// As `explore` has it; without lookups in the other half of L2, which it does not count.
Rows scaled_rows() {
    const Machine& v100 = *find_in_catalogue(kStart);
    Workload workload;
    workload.add(*load_layers(asked("resnet50", 8)));
    Factors f;
    f[Resource::sms] = 1.5, f[Resource::clock] = 0.75, f[Resource::l2_capacity] = 2, f[Resource::l2_bandwidth] = 0.5;
    f[Resource::dram_bandwidth] = 4;
    const auto design = DesignEvaluator(v100, *model_inputs(v100), workload, Tiles::rule).evaluate(f);
    Rows rows;
    for (std::size_t i = 0; i < design.layers.size(); ++i) {
        const auto& l = design.layers[i];
        const double n = workload.items[i].layer.repeat;
        rows.push_back({l.time * n, l.l1_bytes * n, l.l2_bytes * n, l.dram_bytes * n});
    }
    return rows;
}

// A trace of an A100: two products by one kernel, one of them twice, an addition, a kernel that nobody knows, a copy.
std::string trace_text() {
    std::string text = R"({"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB"}],"traceEvents":[)";
    int n = 0;
    const auto launch = [&](const std::string& op, const std::string& inputs, const std::string& kernel, int us) {
        ++n;
        text += fmt::format(
            R"({}{{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":50,"args":{{{}}}}},)"
            R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":1,)"
            R"("args":{{"correlation":{}}}}},{{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},)"
            R"("args":{{"device":0,"stream":7,"correlation":{},"grid":[64,1,1],"block":[256,1,1]}}}})",
            n > 1 ? "," : "", op, 100 * n, inputs, 100 * n + 10, n, kernel, 5000 + 2000 * n, us, n);
    };
    const std::string gemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";
    const auto product = [](const std::string& dims) {
        return R"("Input Dims":)" + dims + R"(,"Input type":["c10::Half","c10::Half"],"Concrete Inputs":["",""])";
    };
    launch("aten::mm", product("[[4096,1024],[1024,4096]]"), gemm, 190);
    launch("aten::mm", product("[[4096,4096],[4096,1024]]"), gemm, 200);
    launch("aten::mm", product("[[4096,1024],[1024,4096]]"), gemm, 195);
    launch(
        "aten::add",
        R"("Input Dims":[[4096,4096],[4096,4096],[]],"Input type":["float","float","Scalar"],"Concrete Inputs":["","","1"])",
        "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>", 170);
    launch("my::secret", R"("Input Dims":[[4096]],"Input type":["float"],"Concrete Inputs":[""])", "secret", 100);
    return text + "]}";
}

struct Traced {
    std::string page;
    std::function<Rows(const std::string& gpu)> on;
};
Traced traced() {
    auto layers = std::make_shared<LaunchLayers>();
    TraceOptions options;
    options.on_modelled = [&](const Kernel& k, const LaunchLayer& of) { layers->add(k, of); };
    const auto result =
        std::make_shared<Analysis>(analysis(*to_run(*read_timeline(trace_text(), "step.json"), options)));
    PageView view;
    view.title = "step.json", view.analysis = result.get(), view.model = layers->page_model(*result);
    PageInput input;
    input.title = view.title, input.views = {view};
    const PageModel model = *view.model;
    const auto on = [model, result](const std::string& gpu) {
        std::map<std::size_t, std::array<double, 5>> sums;  // bytes by level, time there, time here
        const auto estimates = [&](const Layer& layer, const Machine& machine) {
            EstimatorOptions estimator;
            estimator.machine = machine;
            return Estimator(estimator)(layer).value();
        };
        for (const PageModel::Placed& l : model.layers) {
            const Layer mapped_again = without_kernel(l.layer);
            const Estimate there = estimates(mapped_again, *find_in_catalogue(gpu));
            auto& sum = sums[l.row];
            int i = 0;
            for (const Level level : {Level::l1, Level::l2, Level::dram})
                sum[static_cast<std::size_t>(i++)] +=
                    there.kernel.bytes[level]->value.value() * l.times + l.extra.value();
            sum[3] += there.kernel.time->value.value() * l.times;
            sum[4] += estimates(l.layer, model.machines[l.machine]).kernel.time->value.value() * l.times;
        }
        Rows rows;
        for (const auto& [row, sum] : sums)
            rows.push_back({result->rows[row].kernel.time->value.value() * sum[3] / sum[4], sum[0], sum[1], sum[2]});
        return rows;
    };
    return {html_page(input).value(), on};
}

std::string expected_rows(const std::map<std::string, std::map<std::string, Rows>>& all) {
    std::string out = "{";
    for (const auto& [page, designs] : all) {
        out += fmt::format("{}\n\"{}\": {{", out.size() > 1 ? "," : "", page);
        bool first = true;
        for (const auto& [hash, rows] : designs) {
            out += fmt::format("{}\n \"{}\": [", first ? "" : ",", hash);
            for (std::size_t i = 0; i < rows.size(); ++i)
                out += fmt::format("{}[{}, {}, {}, {}]", i ? ", " : "", rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
            out += "]", first = false;
        }
        out += "}";
    }
    return out + "\n}\n";
}

// The same layers many times: as many as a frame must hold.
std::string two_hundred_layers() {
    LayerSet layers;
    layers.title = "200 layers";
    layers.network.emplace();
    const auto resnet50 = load_layers(asked("resnet50", 8));
    for (std::size_t i = 0; i < 200; ++i) {
        const auto& from = resnet50->network->layers;
        layers.network->layers.push_back(from[i % from.size()]);
        layers.network->layers.back().repeat = 1;
    }
    EstimatorOptions options;
    options.machine = *find_in_catalogue(kStart);
    return page_of(*estimate(std::make_shared<const LayerSet>(std::move(layers)), options));
}

// A page of a build without the module.
std::string without_module(std::string page) {
    const std::string mark = "\"module\":\"";
    const auto from = page.find(mark) + mark.size();
    return page.erase(from, page.find('"', from) - from);
}

}  // namespace

std::map<std::string, std::string> whatif_pages() {
    const std::string predicted = page_of(estimated(asked("resnet50", 8), kStart));
    const Traced trace = traced();
    const auto at = [](const LayerRequest& request, const std::string& gpu) {
        return rows_of(estimated(request, gpu));
    };
    const std::map<std::string, std::map<std::string, Rows>> expected = {
        {"predicted.html",
         {{"gpu=v100-sxm2-16gb", at(asked("resnet50", 8), kStart)},
          {"gpu=a100-sxm4-40gb", at(asked("resnet50", 8), "a100-sxm4-40gb")},
          {"gpu=h100-sxm", at(asked("resnet50", 8), "h100-sxm")},
          {"batch=32", at(asked("resnet50", 32), kStart)},
          {"precision=fp16", at(asked("resnet50", 8, 0, Precision::fp16), kStart)},
          {"batch=64&precision=bf16&gpu=h100-sxm", at(asked("resnet50", 64, 0, Precision::bf16), "h100-sxm")},
          {"sms=1.5&clock=0.75&l2.capacity=2&l2.bandwidth=0.5&dram.bandwidth=4", scaled_rows()}}},
        {"bert.html",
         {{"sequence=512", at(asked("bert-base", 4, 512), "a100-sxm4-40gb")},
          {"sequence=64&batch=16&precision=fp16", at(asked("bert-base", 16, 64, Precision::fp16), "a100-sxm4-40gb")}}},
        {"decode.html",
         {{"context=8192", at(decoding(8, 8192), "h100-sxm")},
          {"batch=64&precision=fp16&gpu=b200", at(decoding(64, 1024, Precision::fp16), "b200")}}},
        {"whatif_trace.html", {{"gpu=h100-sxm", trace.on("h100-sxm")}, {"gpu=v100-sxm2-16gb", trace.on(kStart)}}}};
    return {{"predicted.html", predicted},
            {"predicted_without.html", without_module(predicted)},
            {"bert.html", page_of(estimated(asked("bert-base", 4, 128), "a100-sxm4-40gb"))},
            {"decode.html", page_of(estimated(decoding(8, 1024), "h100-sxm"))},
            {"whatif_trace.html", trace.page},
            {"two_hundred.html", two_hundred_layers()},
            {"expected.json", expected_rows(expected)}};
}

}  // namespace gambrel::test
