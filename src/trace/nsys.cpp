// SQLite exports of Nsight Systems, of all schema versions: tables gain columns and suffixes, and names are kept apart.
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "trace/events.hpp"
#include "trace/nvtx_name.hpp"
#include "trace/sqlite.hpp"

namespace gambrel::trace_detail {
namespace {

// NVTX_EVENTS.eventType of ranges that have an end: pushed and popped, started and ended, and both of the extended API.
constexpr std::array<std::int64_t, 4> kRanges = {59, 60, 70, 71};

class Reader {
public:
    Reader(const Database& db, Events& out) : db_(db), out_(out) {}

    Result<void> run() {
        each("StringIds", {"id", "value"}, [&](const Row& r) { names_[r.integer(0)] = out_.strings.id(r.text(1)); });
        device_numbers();
        const bool kernels = this->kernels();
        const bool graphs = this->graphs();
        const bool copies = each("CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns(), [&](const Row& r) { copy(r); });
        const bool memsets = each("CUPTI_ACTIVITY_KIND_MEMSET", copy_columns(), [&](const Row& r) {
            transfer(r, Activity::Kind::memset, out_.strings.id("Memset"));
        });
        const bool ran = kernels || graphs || copies || memsets;
        if (!ran && db_.tables("NVTX_EVENTS").empty() && db_.tables("StringIds").empty())
            return failure(out_.source, "is SQLite, but has no table of Nsight Systems (CUPTI_ACTIVITY_KIND_KERNEL)");
        if (several_) drop_copies();
        calls();
        ranges();
        gpus();
        if (broken_ > 0)
            out_.notes.push_back({out_.source, fmt::format("{} rows have no valid time and are left out", broken_)});
        return {};
    }

private:
    static std::vector<std::string> copy_columns() {
        return {"start",     "end",   "deviceId", "streamId",   "correlationId",
                "globalPid", "bytes", "copyKind", "graphNodeId"};
    }

    // Whether there is such a table; a damaged one makes the run partial.
    bool each(std::string_view table, const std::vector<std::string>& columns,
              const std::function<void(const Row&)>& row) {
        const auto tables = db_.tables(table);
        for (const auto& name : tables)
            if (!db_.read(name, columns, row)) {
                out_.partial = true;
                out_.notes.push_back(
                    {out_.source, fmt::format("table {} is damaged: rows before that were read", name)});
            }
        several_ |= tables.size() > 1;
        return !tables.empty();
    }
    // A file may hold the same rows in tables of two schema versions.
    void drop_copies() {
        const auto key = [](const GpuEvent& g) {
            return std::tuple(g.start, g.duration, g.device, g.stream, g.correlation, g.kind, g.name);
        };
        std::sort(out_.gpu.begin(), out_.gpu.end(),
                  [&](const GpuEvent& a, const GpuEvent& b) { return key(a) < key(b); });
        const auto last = std::unique(out_.gpu.begin(), out_.gpu.end(),
                                      [&](const GpuEvent& a, const GpuEvent& b) { return key(a) == key(b); });
        out_.gpu.erase(last, out_.gpu.end());
    }

    // Correlation ids are unique in a process only. kNone: the row has none.
    std::int64_t correlation(const Row& r, int process_column, int id_column) {
        if (!r.known(id_column)) return kNone;
        return correlation(r.integer(process_column), r.integer(id_column));
    }
    std::int64_t correlation(std::int64_t global, std::int64_t id) {
        const auto process = processes_.try_emplace(global >> 24, processes_.size()).first->second;
        return (static_cast<std::int64_t>(process & 0x7fffffU) << 40) | (id & ((std::int64_t{1} << 40) - 1));
    }
    std::uint32_t thread(std::int64_t global) {
        return threads_.try_emplace(global, static_cast<std::uint32_t>(threads_.size())).first->second;
    }
    // A column with the number of a name or, in tables that other tools made, the name itself.
    StringId name(const Row& r, int column) {
        if (!r.known(column)) return 0;
        if (r.is_text(column)) return out_.strings.id(r.text(column));
        const auto it = names_.find(r.integer(column));
        return it == names_.end() ? 0 : it->second;
    }
    static std::uint32_t side(std::int64_t n) { return n > 0 && n <= 0xffffffffLL ? std::uint32_t(n) : 0; }
    // The number of the GPU: each process may count those that it sees from 0.
    std::int32_t device(const Row& r) const {
        const std::int64_t number = r.integer(2), process = (r.integer(5) >> 24) & 0xffffff;
        const auto it = gpu_of_.find({process, number});
        return static_cast<std::int32_t>(
            std::clamp<std::int64_t>(it == gpu_of_.end() ? number : it->second, 0, 1 << 20));
    }
    void device_numbers() {
        each("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, [&](const Row& r) {
            if (r.known(0) && r.known(1)) gpu_of_[{r.integer(2), r.integer(1)}] = r.integer(0);
        });
    }
    // False: no valid time.
    bool times(const Row& r, std::int64_t& start, std::int64_t& duration) {
        start = r.integer(0, kNone);
        const std::int64_t end = r.integer(1, kNone), kMost = std::int64_t{1} << 61;
        const bool good = start > -kMost && end < kMost && end >= start;
        duration = good ? end - start : 0;
        broken_ += good ? 0 : 1;
        return good;
    }

    bool kernels() {
        return each("CUPTI_ACTIVITY_KIND_KERNEL",
                    {"start",
                     "end",
                     "deviceId",
                     "streamId",
                     "correlationId",
                     "globalPid",
                     "demangledName",
                     "shortName",
                     "mangledName",
                     "registersPerThread",
                     "gridX",
                     "gridY",
                     "gridZ",
                     "blockX",
                     "blockY",
                     "blockZ",
                     "staticSharedMemory",
                     "dynamicSharedMemory",
                     "graphNodeId",
                     "name"},
                    [&](const Row& r) {
                        GpuEvent g;
                        if (!times(r, g.start, g.duration)) return;
                        g.device = device(r);
                        g.stream = r.integer(3);
                        g.correlation = correlation(r, 5, 4);
                        has_processes_ |= r.known(5);
                        for (const int column : {6, 7, 8, 19})
                            if (g.name == 0) g.name = name(r, column);
                        if (g.name == 0) g.name = out_.strings.id("a kernel whose name the file does not hold");
                        g.registers = static_cast<std::int32_t>(std::clamp<std::int64_t>(r.integer(9), 0, 65536));
                        for (int i = 0; i < 3; ++i) {
                            g.grid[static_cast<std::size_t>(i)] = side(r.integer(10 + i));
                            g.block[static_cast<std::size_t>(i)] = side(r.integer(13 + i));
                        }
                        g.shared_memory = r.integer(16) + r.integer(17);
                        g.graph_node = r.integer(18) != 0;
                        out_.gpu.push_back(g);
                    });
    }

    void transfer(const Row& r, Activity::Kind kind, StringId name) {
        GpuEvent g;
        if (!times(r, g.start, g.duration)) return;
        g.kind = kind;
        g.name = name;
        g.device = device(r);
        g.stream = r.integer(3);
        g.correlation = correlation(r, 5, 4);
        g.bytes = static_cast<double>(r.integer(6, -1));
        g.graph_node = r.integer(8) != 0;
        out_.gpu.push_back(g);
    }
    void copy(const Row& r) {
        static constexpr std::array<std::string_view, 14> kKinds = {
            "",     "HtoD", "DtoH", "HtoA", "AtoH",         "AtoA",         "AtoD",
            "DtoA", "DtoD", "HtoH", "PtoP", "Unified HtoD", "Unified DtoH", "Unified PtoP"};
        const std::int64_t number = r.integer(7);
        const std::size_t kind = number < 0 || number >= std::int64_t{kKinds.size()} ? 0 : std::size_t(number);
        transfer(r, Activity::Kind::copy, out_.strings.id("Memcpy " + std::string(kKinds[kind])));
    }

    void calls() {
        each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
             [&](const Row& r) {
                 LaunchCall c;
                 std::int64_t duration = 0;
                 if (!times(r, c.start, duration)) return;
                 c.end = c.start + duration;
                 c.thread = thread(r.integer(2));
                 if (!r.known(3)) return;
                 c.correlation = correlation(has_processes_ ? r.integer(2) : 0, r.integer(3));
                 c.name = name(r, 4);
                 out_.calls.push_back(c);
             });
        out_.has_launches = !out_.calls.empty();
    }

    void ranges() {
        each("NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"}, [&](const Row& r) {
            if (std::find(kRanges.begin(), kRanges.end(), r.integer(2)) == kRanges.end() || !r.known(1)) return;
            HostEvent h;
            std::int64_t duration = 0;
            if (!times(r, h.start, duration)) return;
            h.end = h.start + duration;
            const std::string_view text = r.known(3) ? r.text(3) : out_.strings.text(name(r, 4));
            if (text.empty()) return;
            const NvtxName parts = nvtx_name(text);
            h.kind = parts.op ? HostEvent::Kind::op : HostEvent::Kind::module;
            if (parts.op && (!parts.sizes.empty() || parts.sequence >= 0)) {
                h.arguments = static_cast<std::uint32_t>(out_.arguments.size());
                Arguments a;
                a.dims = out_.strings.id(std::string(parts.sizes));
                a.sequence = parts.sequence;
                out_.arguments.push_back(a);
            }
            h.name = out_.strings.id(std::string(parts.name));
            h.thread = thread(r.integer(5));
            out_.host.push_back(h);
        });
    }

    // Whole graphs, where the nodes were not recorded.
    bool graphs() {
        return each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                    {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId"},
                    [&](const Row& r) {
                        GpuEvent g;
                        if (!times(r, g.start, g.duration)) return;
                        g.device = device(r);
                        g.stream = r.integer(3);
                        g.correlation = correlation(r, 5, 4);
                        g.name = out_.strings.id(fmt::format("CUDA graph {}", r.integer(6)));
                        g.graph_node = true;
                        out_.gpu.push_back(g);
                    });
    }

    // The table of 2021 and later; before, another with other names of columns. GPUs are numbered as device() does.
    void gpus() {
        const auto add = [&](const Row& r, std::int64_t number) {
            Timeline::Device d;
            d.name = r.text(2);
            if (r.integer(3) > 0) d.memory = Bytes{static_cast<double>(r.integer(3))};
            d.sms = static_cast<double>(r.integer(4));
            if (r.integer(5) > 0 && r.integer(5) < 100)
                d.compute_capability =
                    ComputeCapability{static_cast<int>(r.integer(5)), static_cast<int>(r.integer(6) % 100)};
            out_.devices[static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 0, 1 << 20))] = std::move(d);
        };
        each("TARGET_INFO_GPU", {"id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"},
             [&](const Row& r) { add(r, gpu_of_.empty() ? r.integer(1, r.integer(0)) : r.integer(0)); });
        if (!out_.devices.empty()) return;
        each("TARGET_INFO_CUDA_GPU",
             {"id", "deviceId", "name", "globalMemorySize", "numMultiprocessors", "computeCapabilityMajor",
              "computeCapabilityMinor"},
             [&](const Row& r) { add(r, r.integer(1, r.integer(0))); });
    }

    const Database& db_;
    Events& out_;
    std::unordered_map<std::int64_t, StringId> names_;
    std::unordered_map<std::int64_t, std::uint64_t> processes_;
    std::unordered_map<std::int64_t, std::uint32_t> threads_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> gpu_of_;  // by process and its own number
    bool several_ = false, has_processes_ = false;
    std::uint64_t broken_ = 0;
};

Result<Events> events_of(const Result<Database>& db, const std::string& source) {
    if (!db) return tl::unexpected(db.error());
    Events out;
    out.source = source;
    if (auto read = Reader(*db, out).run(); !read) return tl::unexpected(std::move(read.error()));
    return out;
}

}  // namespace

Result<Events> read_nsys(const std::string& path) {
    auto out = events_of(Database::open(path), path);
    std::error_code none;
    if (const auto waiting = std::filesystem::file_size(path + "-wal", none); out && !none && waiting > 0) {
        out->partial = true;
        out->notes.push_back(
            {path, "the file beside it, -wal, holds rows that were not yet written: they are not read"});
    }
    return out;
}
Result<Events> read_nsys(std::string_view bytes, const std::string& source) {
    const std::string padded = with_missing_pages(bytes);
    if (padded.empty()) return events_of(Database::from_bytes(bytes, source), source);
    auto out = events_of(Database::from_bytes(padded, source), source);
    if (!out) return out;
    out->partial = true;
    out->notes.push_back(
        {source, fmt::format("ends after {} bytes, before its last page: was the export interrupted?", bytes.size())});
    return out;
}

}  // namespace gambrel::trace_detail
