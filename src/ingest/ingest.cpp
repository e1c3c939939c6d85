#include <gambrel/ingest.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "ingest/join.hpp"
#include "ingest/metric_eval.hpp"
#include "ingest/readers.hpp"
#include "ingest/report_machine.hpp"
#include "ingest/result_json.hpp"
#include "base/file_bytes.hpp"

namespace gambrel {
namespace {

using namespace ingest_detail;
using base_detail::FileBytes;
namespace fs = std::filesystem;

// A folder stands for the files in it, in order of name; folders inside it too, so that a run by phases is one
// argument.
Result<std::vector<std::string>> files_of(std::span<const std::string> paths) {
    std::vector<std::string> files;
    Errors errors;
    for (const auto& path : paths) {
        std::error_code ec;
        if (!fs::is_directory(path, ec)) {
            files.push_back(path);
            continue;
        }
        std::vector<std::string> inside;
        for (fs::recursive_directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
            if (it->is_regular_file(ec)) inside.push_back(it->path().string());
        if (ec) errors.push_back({path, "cannot be listed: " + ec.message()});
        if (!ec && inside.empty()) errors.push_back({path, "is an empty folder; expected profiler files in it"});
        std::sort(inside.begin(), inside.end());
        files.insert(files.end(), inside.begin(), inside.end());
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return files;
}

Result<Profile> profile_of(std::string_view bytes, const ReadRequest& request) {
    if (is_ncu_report(bytes)) return read_ncu_report(bytes, request);
    if (is_nvprof_csv(bytes)) return read_nvprof_csv(bytes, request);
    if (is_ncu_csv(bytes)) return read_ncu_csv(bytes, request);
    if (bytes.empty()) return failure(request.source, "is empty; expected a profiler file");
    // No format claims it. The CSV reader knows best what a profiler prints when it fails, so it words the error.
    return read_ncu_csv(bytes, request);
}

struct Read {
    std::vector<Profile> profiles;
    std::vector<Ingested> results;  // gambrel's own: already kernels
    Errors failures;
};

Read read_all(const std::vector<std::string>& files, const MetricSet& metrics, const KeepName& keep) {
    Read out;
    for (const auto& file : files) {
        auto bytes = FileBytes::open(file);
        if (bytes && is_result_json(bytes->view())) {
            auto result = read_result_json(bytes->view(), file, keep);
            if (result)
                out.results.push_back(std::move(*result));
            else
                out.failures.insert(out.failures.end(), result.error().begin(), result.error().end());
            continue;
        }
        auto profile =
            bytes ? profile_of(bytes->view(), {file, metrics, keep}) : Result<Profile>(tl::unexpected(bytes.error()));
        if (profile)
            out.profiles.push_back(std::move(*profile));
        else
            out.failures.insert(out.failures.end(), profile.error().begin(), profile.error().end());
    }
    return out;
}

// Where no launch has an NVTX range and there are several files, the file is the phase.
void phases_from_files(std::vector<Kernel>& kernels) {
    std::set<Symbol> sources;
    for (const auto& k : kernels) {
        if (!k.phase.empty()) return;
        sources.insert(k.source);
    }
    if (sources.size() < 2) return;
    for (auto& k : kernels) {
        const fs::path path(k.source.str());
        k.phase = Symbol(path.has_filename() ? path.filename().string() : k.source.str());
    }
}

void evaluate(const std::vector<Profile>& profiles, const MetricRules& rules, const IngestOptions& options,
              Ingested& out) {
    Evaluator evaluator(rules, options);
    std::set<Symbol> devices;
    std::size_t count = 0;
    for (const auto& profile : profiles) count += profile.launches.size();
    out.launches.reserve(count);
    for (const auto& profile : profiles) {
        for (const auto& launch : profile.launches) {
            Kernel k = evaluator.kernel(profile, launch);
            k.device = device_name(launch);
            if (devices.insert(k.device).second)
                out.machines.push_back(report_machine(profile, launch, k, rules.metrics));
            out.launches.push_back(std::move(k));
        }
        if (profile.launches.empty() && profile.filtered_launches == 0)
            out.notes.push_back({profile.source, "holds no kernel launch"});
        out.notes.insert(out.notes.end(), profile.notes.begin(), profile.notes.end());
        out.filtered_launches += profile.filtered_launches;
    }
}

// Machines of one name are one machine, whether a report or a result speaks of it.
void append(std::vector<Ingested> results, Ingested& out) {
    if (!results.empty() && out.launches.empty() &&
        std::all_of(results.begin(), results.end(), [&](auto& r) { return r.roofs == results.front().roofs; }))
        out.roofs = results.front().roofs;
    for (Ingested& result : results) {
        for (Machine& machine : result.machines)
            if (std::none_of(out.machines.begin(), out.machines.end(), [&](auto& m) { return m.name == machine.name; }))
                out.machines.push_back(std::move(machine));
        out.launches.insert(out.launches.end(), std::make_move_iterator(result.launches.begin()),
                            std::make_move_iterator(result.launches.end()));
        out.notes.insert(out.notes.end(), result.notes.begin(), result.notes.end());
        out.filtered_launches += result.filtered_launches;
    }
}

}  // namespace

Result<Ingested> ingest(std::span<const std::string> paths, const IngestOptions& options) {
    const MetricRules& rules = metric_rules();
    const auto files = files_of(paths);
    if (!files) return tl::unexpected(files.error());
    Read read = read_all(*files, rules.metrics, options.keep);
    // One bad file among several is a note; if nothing could be read, it is the answer.
    if (read.profiles.empty() && read.results.empty())
        return tl::unexpected(read.failures.empty() ? Errors{{"", "no file was given"}} : std::move(read.failures));
    Ingested out;
    const std::vector<Profile> profiles = joined(std::move(read.profiles), out.notes);
    evaluate(profiles, rules, options, out);
    append(std::move(read.results), out);
    phases_from_files(out.launches);
    out.notes.insert(out.notes.end(), read.failures.begin(), read.failures.end());
    return out;
}

}  // namespace gambrel
