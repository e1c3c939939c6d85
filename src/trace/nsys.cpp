// SQLite exports of Nsight Systems, of all schema versions: tables gain columns and suffixes, and names are kept apart.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "trace/events.hpp"
#include "trace/json_token.hpp"
#include "trace/sqlite.hpp"

namespace gambrel::trace_detail {
namespace {

// NVTX_EVENTS.eventType of ranges that have an end: pushed and popped, started and ended, and both of the extended API.
constexpr std::array<std::int64_t, 4> kRanges = {59, 60, 70, 71};

// "aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [3, 4]]": an operator of torch.autograd.profiler.emit_nvtx.
struct NvtxName {
    std::string_view name, sizes;
    std::int64_t sequence = -1;
    bool op = false;
};
NvtxName nvtx_name(std::string_view text) {
    NvtxName out{text, {}, -1, false};
    const auto end = std::min(text.find(", seq = "), text.find(", op_id = "));
    if (end != std::string_view::npos) {
        out.name = text.substr(0, end);
        out.op = true;
        if (const auto at = text.find(", seq = "); at != std::string_view::npos) {
            const auto digits = text.substr(at + 8, text.find(',', at + 8) - at - 8);
            out.sequence = integer(digits).value_or(-1);
        }
    }
    if (const auto at = text.find("sizes = ["); at != std::string_view::npos) {
        std::size_t depth = 0;
        for (std::size_t i = at + 8; i < text.size(); ++i) {
            depth += text[i] == '[' ? 1 : 0;
            if (text[i] == ']' && --depth == 0) {
                out.sizes = text.substr(at + 8, i - at - 7);
                break;
            }
        }
    }
    out.op |= out.name.starts_with("aten::") || out.name.starts_with("torch::") || out.name.starts_with("autograd::");
    return out;
}

class Reader {
public:
    Reader(const Database& db, Events& out) : db_(db), out_(out) {}

    Result<void> run() {
        each("StringIds", {"id", "value"}, [&](const Row& r) { names_[r.integer(0)] = out_.strings.id(r.text(1)); });
        const bool kernels = this->kernels();
        const bool copies = each("CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns(), [&](const Row& r) { copy(r); });
        const bool memsets = each("CUPTI_ACTIVITY_KIND_MEMSET", copy_columns(), [&](const Row& r) { memset(r); });
        if (!kernels && !copies && !memsets && db_.tables("NVTX_EVENTS").empty() && db_.tables("StringIds").empty())
            return failure(out_.source,
                           "is SQLite, but has no table of Nsight Systems (CUPTI_ACTIVITY_KIND_KERNEL, StringIds)");
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

    // Whether there is such a table. One that is damaged makes the run partial.
    bool each(std::string_view table, const std::vector<std::string>& columns,
              const std::function<void(const Row&)>& row) {
        const auto tables = db_.tables(table);
        for (const auto& name : tables)
            if (!db_.read(name, columns, row)) {
                out_.partial = true;
                out_.notes.push_back(
                    {out_.source, fmt::format("table {} is damaged: rows before that were read", name)});
            }
        return !tables.empty();
    }

    // Correlation ids are unique in a process only.
    std::int64_t correlation(std::int64_t global, std::int64_t id) {
        const auto process = processes_.try_emplace(global >> 24, processes_.size()).first->second;
        return (static_cast<std::int64_t>(process & 0x7fffffU) << 40) | (id & ((std::int64_t{1} << 40) - 1));
    }
    std::uint32_t thread(std::int64_t global) {
        return threads_.try_emplace(global, static_cast<std::uint32_t>(threads_.size())).first->second;
    }
    StringId name(std::int64_t id) const {
        const auto it = names_.find(id);
        return it == names_.end() ? 0 : it->second;
    }
    // False where no time lies between the two.
    bool times(const Row& r, std::int64_t& start, std::int64_t& duration) {
        start = r.integer(0, kNone);
        const std::int64_t end = r.integer(1, kNone);
        constexpr std::int64_t kMost = std::int64_t{1} << 61;
        const bool good = start > -kMost && end < kMost && end >= start;
        duration = good ? end - start : 0;
        broken_ += good ? 0 : 1;
        return good;
    }

    bool kernels() {
        return each("CUPTI_ACTIVITY_KIND_KERNEL",
                    {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
                     "mangledName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                     "staticSharedMemory", "dynamicSharedMemory", "graphNodeId"},
                    [&](const Row& r) {
                        GpuEvent g;
                        if (!times(r, g.start, g.duration)) return;
                        g.device = static_cast<std::int32_t>(r.integer(2));
                        g.stream = r.integer(3);
                        g.correlation = correlation(r.integer(5), r.integer(4));
                        for (const int column : {6, 7, 8})
                            if (g.name == 0 && r.known(column)) g.name = name(r.integer(column));
                        g.registers = static_cast<std::int32_t>(r.integer(9));
                        for (int i = 0; i < 3; ++i) {
                            g.grid[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(r.integer(10 + i));
                            g.block[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(r.integer(13 + i));
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
        g.device = static_cast<std::int32_t>(r.integer(2));
        g.stream = r.integer(3);
        g.correlation = correlation(r.integer(5), r.integer(4));
        g.bytes = static_cast<double>(r.integer(6, -1));
        g.graph_node = r.integer(8) != 0;
        out_.gpu.push_back(g);
    }
    void copy(const Row& r) {
        static constexpr std::array<std::string_view, 11> kKinds = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                                    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
        const auto kind = static_cast<std::size_t>(std::clamp<std::int64_t>(r.integer(7), 0, 10));
        transfer(r, Activity::Kind::copy, out_.strings.id("Memcpy " + std::string(kKinds[kind])));
    }
    void memset(const Row& r) { transfer(r, Activity::Kind::memset, out_.strings.id("Memset")); }

    void calls() {
        each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"},
             [&](const Row& r) {
                 LaunchCall c;
                 std::int64_t duration = 0;
                 if (!times(r, c.start, duration)) return;
                 c.end = c.start + duration;
                 c.thread = thread(r.integer(2));
                 c.correlation = correlation(r.integer(2), r.integer(3));
                 c.name = name(r.integer(4));
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
            const std::string_view text = r.known(3) ? r.text(3) : out_.strings.text(name(r.integer(4)));
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

    void gpus() {
        each("TARGET_INFO_GPU", {"id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"},
             [&](const Row& r) {
                 Timeline::Device d;
                 d.name = r.text(2);
                 if (r.integer(3) > 0) d.memory = Bytes{static_cast<double>(r.integer(3))};
                 d.sms = static_cast<double>(r.integer(4));
                 if (r.integer(5) > 0)
                     d.compute_capability =
                         ComputeCapability{static_cast<int>(r.integer(5)), static_cast<int>(r.integer(6))};
                 out_.devices[static_cast<std::int32_t>(r.integer(1, r.integer(0)))] = std::move(d);
             });
    }

    const Database& db_;
    Events& out_;
    std::unordered_map<std::int64_t, StringId> names_;
    std::unordered_map<std::int64_t, std::uint64_t> processes_;
    std::unordered_map<std::int64_t, std::uint32_t> threads_;
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

bool is_sqlite(std::string_view bytes) { return bytes.starts_with(std::string_view("SQLite format 3\0", 16)); }

Result<Events> read_nsys(const std::string& path) { return events_of(Database::open(path), path); }
Result<Events> read_nsys(std::string_view bytes, const std::string& source) {
    return events_of(Database::from_bytes(bytes, source), source);
}

}  // namespace gambrel::trace_detail
