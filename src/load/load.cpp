#include <gambrel/load.hpp>

namespace gambrel {
namespace {

Result<Run> profiled_run(std::span<const std::string> paths, const LoadOptions& options) {
    IngestOptions ingest_options;
    ingest_options.flop_rule = options.flop_rule;
    ingest_options.nvtx_depth = options.nvtx_depth;
    ingest_options.keep = options.keep;
    if (options.machine) ingest_options.assumed_cc = options.machine->compute_capability;
    auto run = ingest(paths, ingest_options);
    if (!run) return run;
    if (!options.network.empty())
        run->notes.push_back({"network",
                              "is for kernels of a trace that have no shapes; these files are not traces, so "
                              "it changes nothing"});
    if (!options.operator_files.empty())
        run->notes.push_back({options.operator_files.front(),
                              "is for operators of a trace; these files are not traces, so it changes "
                              "nothing"});
    if (options.machine) run->roofs.reset();  // those of a saved result are of its own machine
    resolve_machines(*run, options.machine ? &*options.machine : nullptr);
    return run;
}

}  // namespace

// Traces first: they are recognised by their first bytes.
Result<Run> load_run(std::span<const std::string> paths, const LoadOptions& options) {
    const auto timeline = traces_in(paths, options.share);
    if (!timeline) return tl::unexpected(timeline.error());
    if (!*timeline) return profiled_run(paths, options);
    TraceOptions trace_options;
    trace_options.machine = options.machine;
    trace_options.operator_files = options.operator_files;
    trace_options.keep = options.keep;
    trace_options.network = options.network;
    trace_options.shapes_in_operators = options.shapes_in_operators;
    trace_options.on_modelled = options.on_modelled;
    return to_run(**timeline, trace_options);
}

}  // namespace gambrel
