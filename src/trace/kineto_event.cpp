#include "trace/kineto_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trace/json_token.hpp"

namespace gambrel::trace_detail {
namespace {

namespace od = simdjson::ondemand;

constexpr std::int32_t kNoDevice = -1, kMostDevices = 1024;

std::array<std::uint32_t, 3> triple(od::value& value) {
    std::array<std::uint32_t, 3> out{};
    od::array list;
    if (value.get_array().get(list) != simdjson::SUCCESS) return out;
    std::size_t i = 0;
    for (auto item : list) {
        od::value v;
        if (std::move(item).get(v) != simdjson::SUCCESS) break;
        if (i < 3) {
            const auto n = integer(token(v)).value_or(0);
            out[i++] = n > 0 && n <= 0xffffffffLL ? static_cast<std::uint32_t>(n) : 0;
        }
    }
    return out;
}

void gpu_argument(const char* key, od::value& v, GpuEvent& gpu, std::int64_t& correlation) {
    const auto number = [&](std::int64_t otherwise) { return integer(token(v)).value_or(otherwise); };
    if (is_key(key, "correlation"))
        correlation = number(kNone);
    else if (is_key(key, "External id") || is_key(key, "external id"))
        gpu.external = number(-1);
    else if (is_key(key, "device"))
        gpu.device = static_cast<std::int32_t>(std::clamp<std::int64_t>(number(kNoDevice), kNoDevice, 1 << 20));
    else if (is_key(key, "stream"))
        gpu.stream = number(0);
    else if (is_key(key, "registers per thread"))
        gpu.registers = static_cast<std::int32_t>(number(0));
    else if (is_key(key, "shared memory"))
        gpu.shared_memory = number(-1);
    else if (is_key(key, "bytes"))
        gpu.bytes = static_cast<double>(number(-1));
    else if (is_key(key, "graph node id"))
        gpu.graph_node = number(0) > 0;
    else if (is_key(key, "grid"))
        gpu.grid = triple(v);
    else if (is_key(key, "block"))
        gpu.block = triple(v);
}

}  // namespace

void EventReader::event(od::object& object) {
    Fields f;
    bool waiting = false;  // arguments came before the category
    for (auto field : object) {
        od::field entry;
        if (std::move(field).get(entry) != simdjson::SUCCESS) return void(++broken_);
        const char* key = entry.key().raw();
        od::value value = entry.value();
        if (is_key(key, "ph"))
            f.ph = token(value);
        else if (is_key(key, "cat"))
            f.category = category_of(f.cat = token(value));
        else if (is_key(key, "name"))
            f.name = token(value);
        else if (is_key(key, "pid"))
            f.pid = token(value);
        else if (is_key(key, "tid"))
            f.tid = token(value);
        else if (is_key(key, "ts"))
            f.ts = token(value);
        else if (is_key(key, "dur"))
            f.dur = token(value);
        else if (is_key(key, "args") && (f.category == Category::other || f.name.empty()))
            waiting = true;
        else if (is_key(key, "args") && (f.ph == "X" || f.ph == "B"))
            arguments(value, f);
    }
    if (f.category == Category::other && f.cat.empty()) f.category = category_of_process(f.pid);
    if (f.ph == "E") return end(f);
    if (f.ph != "X" && f.ph != "B") return;
    if (waiting && f.category != Category::other) late_arguments(object, f);
    if (f.ph == "B") return begin(f);
    if (f.category == Category::other) return remember_category(f.cat);
    if (f.category == Category::counters) return void(++counters_);
    const auto start = nanoseconds(f.ts), duration = f.dur.empty() ? std::int64_t{0} : nanoseconds(f.dur);
    if (!start || !duration || *duration < 0) return void(++broken_);
    store(f, *start, *duration);
}

void EventReader::begin(const Fields& f) {
    if (f.category == Category::other) remember_category(f.cat);
    auto& open = open_[thread(f)];
    constexpr std::size_t kDeepestNest = 4096;
    if (open.size() >= kDeepestNest) return;
    open.push_back(f);
    // The text may be gone when the end comes.
    Fields& kept = open.back();
    for (std::string_view* text : {&kept.ph, &kept.cat, &kept.name, &kept.pid, &kept.tid, &kept.ts, &kept.dur})
        *text = out_.strings.text(out_.strings.id(*text));
}

// An end is that of the last event that began on its thread; its own name and category may be missing.
void EventReader::end(const Fields& f) {
    auto& open = open_[thread(f)];
    if (open.empty()) return void(++broken_);
    Fields whole = open.back();
    open.pop_back();
    if (whole.category == Category::other || whole.category == Category::counters) return;
    const auto start = nanoseconds(whole.ts), stop = nanoseconds(f.ts);
    if (!start || !stop || *stop < *start) return void(++broken_);
    store(whole, *start, *stop - *start);
}

void EventReader::remember_category(std::string_view cat) {
    ++foreign_;
    constexpr std::size_t kMost = 8;
    if (cat.empty() || others_.size() >= kMost) return;
    if (std::find(others_.begin(), others_.end(), cat) == others_.end()) others_.emplace_back(cat);
}

void EventReader::finish() {
    if (broken_ > 0)
        out_.notes.push_back({out_.source, fmt::format("{} events have no valid time and are left out", broken_)});
    std::size_t without_end = 0;
    for (const auto& [thread, open] : open_) without_end += open.size();
    if (without_end > 0)
        out_.notes.push_back(
            {out_.source, fmt::format("{} events begin and do not end: they are left out", without_end)});
    if (out_.gpu.empty() && out_.host.empty() && out_.calls.empty() && foreign_ > 0)
        out_.notes.push_back(
            {out_.source,
             fmt::format(
                 "none of its {} events is of the PyTorch profiler (cpu_op, kernel){}; traces of JAX, TensorFlow "
                 "and Ascend are not read",
                 foreign_, others_.empty() ? "" : fmt::format("; their categories are {}", fmt::join(others_, ", ")))});
    if (counters_ > 0)
        out_.notes.push_back(
            {out_.source, fmt::format("{} ranges of CUPTI counters (cuda_profiler_range) are not read", counters_)});
}

void EventReader::late_arguments(od::object& object, Fields& f) {
    if (object.reset().error() != simdjson::SUCCESS) return;
    for (auto field : object) {
        od::field entry;
        if (std::move(field).get(entry) != simdjson::SUCCESS) return;
        od::value value = entry.value();
        if (is_key(entry.key().raw(), "args")) arguments(value, f);
    }
}

void EventReader::arguments(od::value& value, Fields& f) {
    if (f.category == Category::annotation || f.category == Category::python) return;
    if (f.category == Category::other || f.category == Category::counters) return;
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return;
    for (auto field : object) {
        od::field entry;
        if (std::move(field).get(entry) != simdjson::SUCCESS) return;
        od::value v = entry.value();
        if (f.category == Category::op)
            op_argument(entry.key().raw(), v, f.op);
        else
            gpu_argument(entry.key().raw(), v, f.gpu, f.correlation);
    }
}

StringId EventReader::json_text(od::value& v) {
    std::string_view text;
    if (simdjson::to_json_string(v).get(text) != simdjson::SUCCESS) return 0;
    return out_.strings.id(text);
}

void EventReader::op_argument(const char* key, od::value& v, Arguments& op) {
    switch (*key) {
        case 'I':
            if (is_key(key, "Input Dims") || is_key(key, "Input dims"))
                op.dims = json_text(v);
            else if (is_key(key, "Input type"))
                op.types = json_text(v);
            else if (is_key(key, "Input Strides"))
                op.strides = json_text(v);
            break;
        case 'C':
            if (is_key(key, "Concrete Inputs")) op.values = json_text(v);
            break;
        case 'S':
            if (is_key(key, "Sequence number")) op.sequence = integer(token(v)).value_or(-1);
            break;
        case 'F':
            if (is_key(key, "Fwd thread id")) op.forward_thread = integer(token(v)).value_or(-1);
            break;
        case 'E':
            if (is_key(key, "External id")) op.external = integer(token(v)).value_or(-1);
            break;
        default:
            break;
    }
}

std::uint32_t EventReader::thread(const Fields& f) {
    const std::uint64_t key = (std::uint64_t{out_.strings.id(f.pid)} << 32U) | std::uint64_t{out_.strings.id(f.tid)};
    if (key != last_key_) last_key_ = key, last_thread_ = threads_.try_emplace(key, threads_.size()).first->second;
    return last_thread_;
}

void EventReader::store(Fields& f, std::int64_t start, std::int64_t duration) {
    const std::int64_t end = start + duration;
    if (f.category == Category::python && !f.name.starts_with("nn.Module: ")) return;
    const StringId name = out_.strings.id(unescaped(f.name, room_));
    switch (f.category) {
        case Category::op: {
            std::uint32_t at = 0;
            if (f.op.dims != 0 || f.op.sequence >= 0 || f.op.external >= 0) {
                at = static_cast<std::uint32_t>(out_.arguments.size());
                out_.arguments.push_back(f.op);
            }
            out_.host.push_back({start, end, name, thread(f), at, HostEvent::Kind::op});
            return;
        }
        case Category::annotation:
            out_.host.push_back({start, end, name, thread(f), 0, HostEvent::Kind::annotation});
            return;
        case Category::python:
            out_.host.push_back({start, end, name, thread(f), 0, HostEvent::Kind::module});
            return;
        case Category::call:
            out_.has_launches = true;
            if (f.correlation != kNone) out_.calls.push_back({start, end, f.correlation, thread(f), name});
            return;
        default:
            break;
    }
    f.gpu.kind = f.category == Category::kernel ? Activity::Kind::kernel
                 : f.category == Category::copy ? Activity::Kind::copy
                                                : Activity::Kind::memset;
    // The process of a GPU event is its device where its arguments do not say it.
    if (f.gpu.device == kNoDevice) {
        const std::int64_t pid = integer(f.pid).value_or(0);
        f.gpu.device = pid >= 0 && pid < kMostDevices ? static_cast<std::int32_t>(pid) : 0;
    }
    f.gpu.start = start;
    f.gpu.duration = duration;
    f.gpu.correlation = f.correlation;
    f.gpu.name = name;
    out_.gpu.push_back(f.gpu);
}

}  // namespace gambrel::trace_detail
