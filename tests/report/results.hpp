// Results of the other rooms made by hand or from small searches, for the tests of their views.
#pragma once

#include <gambrel/report.hpp>

namespace gambrel::sample {

// 10 TB/s up to 128 KiB, then 1 TB/s; an FP32 ceiling of 12.5 of 15 TFLOP/s, and a bandwidth that failed its proof.
inline Measurement small_measurement() {
    Measurement m;
    m.device.name = "Toy GPU", m.device.id = "toy:0", m.device.kind = DeviceKind::cuda, m.device.units = 4;
    m.date = "2026-01-02T03:04:05Z";
    MeasuredSweep sweep;
    sweep.title = "load, each SM its own set";
    for (double size = 16384; size <= 1048576; size *= 2)
        sweep.points.push_back({Bytes{size}, statistics(std::vector<double>(9, size <= 131072 ? 10e12 : 1e12))});
    sweep.windows = {{Level::l1, 0, 131072}, {Level::dram, 131072, std::numeric_limits<double>::infinity()}};
    sweep.plateaus = {{Level::l1, 10e12, 10e12, 10e12, Bytes{16384}, Bytes{131072}, 4},
                      {Level::dram, 1e12, 1e12, 1e12, Bytes{262144}, Bytes{1048576}, 3}};
    m.sweeps = {sweep};
    MeasuredCeiling fp32;
    fp32.title = "FP32 FMA", fp32.kind = CeilingKind::compute, fp32.pipe = Pipe::fp32, fp32.primary = true;
    fp32.value = statistics(std::vector<double>(9, 12.5e12)), fp32.theoretical = 15e12;
    MeasuredCeiling broken;
    broken.title = "=HYPERLINK(\"x\"), copy", broken.kind = CeilingKind::bandwidth, broken.level = Level::dram;
    broken.fault = "the sum, as read, is wrong";
    m.ceilings = {fp32, broken};
    return m;
}

inline ExplorationReport small_exploration() {
    ExploreRequest request;
    request.machine = *find_in_catalogue("v100");
    request.hardware = *model_inputs(request.machine);
    request.workload.add(*builtin_network("alexnet", {8, 128}));
    request.space = *parse_space("sms={1,1.5,2},dram.bandwidth={1,1.5,2}", request.machine, request.hardware);
    request.search.target = 1.15;
    return *explore(request);
}

// Predictions 10 % too high, of bytes at DRAM and of time.
inline Validation small_validation() {
    Validation v;
    for (std::size_t i = 1; i <= 3; ++i) {
        ValidationRow row;
        row.line = i + 1, row.name = "layer|" + std::to_string(i), row.gpu = "toy", row.pass = "fwd",
        row.precision = "fp32";
        const double scale = std::pow(10.0, static_cast<double>(i));
        row.measured[static_cast<std::size_t>(ValidatedQuantity::dram)] = 1e6 * scale;
        row.measured[static_cast<std::size_t>(ValidatedQuantity::time)] = 1e-6 * scale;
        auto& ours = row.predicted[static_cast<std::size_t>(EstimateSource::gambrel)];
        ours[static_cast<std::size_t>(ValidatedQuantity::dram)] = 1.1e6 * scale;
        ours[static_cast<std::size_t>(ValidatedQuantity::time)] = 1.1e-6 * scale;
        v.rows.push_back(row);
    }
    return v;
}

inline CheckResult small_check() {
    CheckResult r;
    r.items = {{"gemm", "", "roof", 0.75, 0.6, {}, true}, {"copy\xEF\xBF\xBE", "fwd", "time", 1.2e-3, 1e-3, {}, false}};
    r.notes = {"partial result: cut off\xEF\xBF\xBF", "new_kernel: not in the baseline"};
    return r;
}

}  // namespace gambrel::sample
