#include <gambrel/ingest.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file_bytes.hpp"
#include "base/file_title.hpp"
#include "base/huge_pages.hpp"
#include "base/printable.hpp"
#include "ingest/join.hpp"
#include "ingest/metric_eval.hpp"
#include "ingest/readers.hpp"
#include "ingest/report_machine.hpp"
#include "ingest/result_json.hpp"

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

// A table that `gambrel predict --layers` reads: its header names the sides of a convolution or a product.
bool is_layer_table(std::string_view bytes) {
    std::string header = ",";
    header += bytes.substr(0, std::min<std::size_t>(bytes.find_first_of("\r\n"), 1 << 16));
    header += ',';
    const auto has = [&](std::initializer_list<const char*> columns) {
        return std::all_of(columns.begin(), columns.end(),
                           [&](const char* each) { return header.find(each) != header.npos; });
    };
    return has({",C,", ",H,", ",W,", ",K,", ",R,", ",S,"}) || has({",op,", ",M,", ",N,", ",K,"});
}

// An object, or a list of what JSON has. A program's own output may begin with "[INFO]".
bool begins_like_json(std::string_view bytes) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t first = bytes.find_first_not_of(kSpace);
    if (first == bytes.npos || bytes[first] != '[') return first != bytes.npos && bytes[first] == '{';
    const std::size_t next = bytes.find_first_not_of(kSpace, first + 1);
    return next != bytes.npos && std::string_view("{[]\"").find(bytes[next]) != std::string_view::npos;
}

Result<Profile> profile_of(std::string_view bytes, const ReadRequest& request) {
    if (is_ncu_report(bytes)) return read_ncu_report(bytes, request);
    if (base_detail::is_binary(bytes)) {
        const bool onnx = request.source.ends_with(".onnx");
        return failure(
            request.source,
            fmt::format("is neither text nor in a binary format that is read here: a report of Nsight Compute "
                        "(.ncu-rep) or a SQLite file of Nsight Systems{}",
                        onnx ? "; `gambrel predict` reads ONNX models" : ""));
    }
    if (is_layer_table(bytes))
        return failure(request.source,
                       "is a table of layers, which `gambrel predict --layers` reads; expected a "
                       "profiler's file");
    if (is_nvprof_csv(bytes)) return read_nvprof_csv(bytes, request);
    if (is_ncu_csv(bytes)) return read_ncu_csv(bytes, request);
    if (bytes.empty()) return failure(request.source, "is empty; expected a profiler file");
    if (begins_like_json(bytes))
        return failure(request.source,
                       "is JSON, but neither a trace of the PyTorch profiler (\"traceEvents\") nor a result that "
                       "gambrel wrote with --json (\"schema\": \"gambrel-...\")");
    // No format claims it. The CSV reader knows best what a profiler prints when it fails, so its error message is
    // used.
    return read_ncu_csv(bytes, request);
}

// A folder may hold other things beside the profiler's: a README in it takes nothing from the run. A file that was
// named, or that bears a report's name, does.
bool belongs_to_the_run(const std::string& file, std::span<const std::string> named) {
    const std::string kind = fs::path(file).extension().string();
    return kind == ".ncu-rep" || kind == ".nsight-cuprof-report" ||
           std::find(named.begin(), named.end(), file) != named.end();
}

struct ReadFiles {
    bool lost = false;  // a file of the run could not be read
    std::vector<Profile> profiles;
    std::vector<SavedResult> results;  // of gambrel itself: already kernels
    Errors failures;
};

ReadFiles read_all(const std::vector<std::string>& files, std::span<const std::string> named, const MetricSet& metrics,
                   const KeepName& keep) {
    ReadFiles out;
    const auto failed = [&](const std::string& file, const Errors& errors) {
        out.failures.insert(out.failures.end(), errors.begin(), errors.end());
        out.lost |= belongs_to_the_run(file, named);
    };
    for (const auto& file : files) {
        auto bytes = FileBytes::open(file);
        if (bytes && is_result_json(bytes->view())) {
            auto result = read_result_json(bytes->view(), file, keep);
            if (result)
                out.results.push_back(std::move(*result));
            else
                failed(file, result.error());
            continue;
        }
        auto profile =
            bytes ? profile_of(bytes->view(), {file, metrics, keep}) : Result<Profile>(tl::unexpected(bytes.error()));
        if (profile)
            out.profiles.push_back(std::move(*profile));
        else
            failed(file, profile.error());
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

class Builder {
public:
    void evaluate(const std::vector<Profile>& profiles, const MetricRules& rules, const IngestOptions& options) {
        Evaluator evaluator(rules, options);
        std::size_t count = 0;
        for (const auto& profile : profiles) count += profile.launches.size();
        base_detail::reserve_in_huge_pages(run_.kernels, count);
        for (const auto& profile : profiles) {
            for (const auto& launch : profile.launches) {
                Kernel k = evaluator.kernel(profile, launch);
                k.device = device_name(launch);
                k.machine = index_of(k.device, [&] { return report_machine(profile, launch, k, rules.metrics); });
                run_.kernels.push_back(std::move(k));
            }
            if (profile.launches.empty() && profile.filtered_launches == 0)
                run_.notes.push_back({profile.source, "holds no kernel launch"});
            run_.notes.insert(run_.notes.end(), profile.notes.begin(), profile.notes.end());
            run_.partial |= profile.partial;
            filtered_ += profile.filtered_launches;
        }
    }

    // Machines of one name are one machine, whether a report or a result speaks of it.
    void append(std::vector<SavedResult> results) {
        const auto same_roofs = [&](const SavedResult& r) { return r.run.roofs == results.front().run.roofs; };
        if (run_.kernels.empty() && std::all_of(results.begin(), results.end(), same_roofs) && !results.empty())
            run_.roofs = results.front().run.roofs;
        // Of several, the one that is least near to the hardware; a profile among them is measured all the same.
        for (const auto& result : results)
            if (run_.kernels.empty()) run_.origin = std::max(run_.origin, result.run.origin);
        for (auto& [saved, filtered] : results) {
            run_.partial = run_.partial || saved.partial;
            if (results.size() == 1 && run_.kernels.empty()) run_.timeline = std::move(saved.timeline);
            std::vector<std::size_t> at;
            for (Machine& machine : saved.machines)
                at.push_back(index_of(Symbol(machine.name), [&] { return std::move(machine); }));
            for (Kernel& k : saved.kernels) {
                k.machine = k.machine < at.size() ? at[k.machine] : index_of(k.device, [] { return Machine{}; });
                run_.kernels.push_back(std::move(k));
            }
            run_.notes.insert(run_.notes.end(), saved.notes.begin(), saved.notes.end());
            run_.partial |= saved.partial;
            filtered_ += filtered;
        }
    }

    // A run without a kernel is not a result: the caller would go on and report on nothing.
    Result<Run> finished(Errors notes, const ReadFiles& read) {
        const Errors& failures = read.failures;
        phases_from_files(run_.kernels);
        run_.partial |= read.lost;
        run_.notes.insert(run_.notes.begin(), notes.begin(), notes.end());
        run_.notes.insert(run_.notes.end(), failures.begin(), failures.end());
        if (run_.kernels.empty() && filtered_ > 0)
            run_.notes.push_back(
                {"--kernel", fmt::format("matches none of the {} launches that were read", filtered_)});
        if (run_.kernels.empty()) return tl::unexpected(std::move(run_.notes));
        if (filtered_ > 0)
            run_.notes.push_back(
                {"--kernel", fmt::format("{} launches do not match and are left out of everything", filtered_)});
        return std::move(run_);
    }

private:
    template <class Make>
    std::size_t index_of(Symbol device, Make make) {
        const auto [it, fresh] = machines_.try_emplace(device, run_.machines.size());
        if (fresh) run_.machines.push_back(make());
        return it->second;
    }
    Run run_;
    std::unordered_map<Symbol, std::size_t> machines_;  // by device name
    std::uint64_t filtered_ = 0;
};

}  // namespace

Result<Run> ingest(std::span<const std::string> paths, const IngestOptions& options) {
    const MetricRules& rules = metric_rules();
    const auto files = files_of(paths);
    if (!files) return tl::unexpected(files.error());
    ReadFiles read = read_all(*files, paths, rules.metrics, options.keep);
    // One bad file among several is a note; if nothing could be read, it is the answer.
    if (read.profiles.empty() && read.results.empty())
        return tl::unexpected(read.failures.empty() ? Errors{{"", "no file was given"}} : std::move(read.failures));
    Errors notes;
    const std::vector<Profile> profiles = joined(std::move(read.profiles), notes);
    Builder builder;
    builder.evaluate(profiles, rules, options);
    builder.append(std::move(read.results));
    auto run = builder.finished(std::move(notes), read);
    if (run) run->title = base_detail::title_of(paths);
    return run;
}

}  // namespace gambrel
