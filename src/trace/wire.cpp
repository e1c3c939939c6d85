#include "trace/wire.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace gambrel::trace_detail {
namespace {

// One walk for both ways: a Writer puts what it is given, a Reader replaces it by what it finds.
class Writer {
public:
    explicit Writer(std::string& out) : out_(out) {}
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void value(const T& v) { out_.append(reinterpret_cast<const char*>(&v), sizeof v); }
    void text(const std::string& s) {
        value(static_cast<std::uint64_t>(s.size()));
        out_ += s;
    }
    void symbol(const Symbol& s) { text(s.str()); }
    template <class T, class Each>
    void list(const std::vector<T>& items, const Each& each) {
        value(static_cast<std::uint64_t>(items.size()));
        for (const T& item : items) each(item);
    }

private:
    std::string& out_;
};

class Reader {
public:
    explicit Reader(std::string_view in) : in_(in) {}
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void value(T& v) {
        if (in_.size() < sizeof v) return fail();
        std::memcpy(&v, in_.data(), sizeof v);
        in_.remove_prefix(sizeof v);
    }
    void text(std::string& s) {
        std::uint64_t size = 0;
        value(size);
        if (size > in_.size()) return fail();
        s = in_.substr(0, size);
        in_.remove_prefix(size);
    }
    void symbol(Symbol& s) {
        std::string name;
        text(name);
        s = Symbol(name);
    }
    template <class T, class Each>
    void list(std::vector<T>& items, const Each& each) {
        std::uint64_t size = 0;
        value(size);
        if (size > in_.size()) return fail();  // an item takes at least a byte
        items.resize(size);
        for (T& item : items) each(item);
    }
    [[nodiscard]] bool at_end() const { return in_.empty(); }
    [[nodiscard]] bool failed() const { return failed_; }

private:
    void fail() { failed_ = true, in_ = {}; }
    std::string_view in_;
    bool failed_ = false;
};

template <class Wire, class F>
void walk_errors(Wire& w, F& errors) {
    w.list(errors, [&](auto& e) { w.text(e.where), w.text(e.what); });
}

template <class Wire, class Call>
void walk_call(Wire& w, Call& c) {
    const auto dims = [&](auto& d) { w.list(d, [&](auto& n) { w.value(n); }); };
    w.symbol(c.name);
    w.list(c.inputs, [&](auto& i) {
        w.list(i.tensors, dims), w.list(i.strides, dims);
        w.text(i.type), w.text(i.value);
    });
    w.value(c.parent);
    dims(c.next_input);
}

template <class Wire, class Event>
void walk_activity(Wire& w, Event& a) {
    w.symbol(a.name), w.symbol(a.module), w.symbol(a.phase);
    w.value(a.start_ns), w.value(a.duration_ns), w.value(a.launch_ns), w.value(a.kind), w.value(a.launch);
    w.value(a.device), w.value(a.gpu), w.value(a.rank), w.value(a.stream), w.value(a.call), w.value(a.instance);
    w.value(a.shape), w.value(a.bytes), w.value(a.registers), w.value(a.shared_memory), w.value(a.step);
}

template <class Wire, class T>
void walk(Wire& w, T& t) {
    w.list(t.devices,
           [&](auto& d) { w.text(d.name), w.value(d.compute_capability), w.value(d.memory), w.value(d.sms); });
    w.list(t.ranks, [&](auto& r) { w.text(r.name), w.text(r.source); });
    w.list(t.calls, [&](auto& c) { walk_call(w, c); });
    w.list(t.activities, [&](auto& a) { walk_activity(w, a); });
    w.value(t.steps), w.value(t.operators), w.value(t.partial);
    walk_errors(w, t.notes);
}

}  // namespace

void add_to_wire(const FileResult& result, std::string& out) {
    Writer w(out);
    w.value(result.number), w.value(result.kind);
    walk_errors(w, result.errors);
    walk(w, result.timeline);
}

std::optional<std::vector<FileResult>> from_wire(std::string_view bytes) {
    Reader r(bytes);
    std::vector<FileResult> out;
    while (!r.at_end()) {
        FileResult& result = out.emplace_back();
        r.value(result.number), r.value(result.kind);
        walk_errors(r, result.errors);
        walk(r, result.timeline);
    }
    if (r.failed()) return std::nullopt;
    return out;
}

void append(Timeline one, Timeline& out) {
    const auto first_call = static_cast<std::int32_t>(out.calls.size());
    const auto first_rank = static_cast<std::uint32_t>(out.ranks.size());
    std::vector<std::uint32_t> devices;
    for (auto& device : one.devices) {
        const auto same = std::find(out.devices.begin(), out.devices.end(), device);
        devices.push_back(static_cast<std::uint32_t>(same - out.devices.begin()));
        if (same == out.devices.end()) out.devices.push_back(std::move(device));
    }
    for (auto& rank : one.ranks) {
        if (rank.name.empty()) rank.name = std::to_string(out.ranks.size());
        out.ranks.push_back(std::move(rank));
    }
    for (auto& call : one.calls) {
        if (call.parent >= 0) call.parent += first_call;
        out.calls.push_back(std::move(call));
    }
    for (Activity& a : one.activities) {
        a.device = devices[a.device];
        a.rank += first_rank;
        if (a.call >= 0) a.call += first_call;
    }
    if (out.activities.empty())
        out.activities = std::move(one.activities);
    else
        out.activities.insert(out.activities.end(), one.activities.begin(), one.activities.end());
    out.steps = std::max(out.steps, one.steps);
    out.operators += one.operators;
    out.partial |= one.partial;
    out.notes.insert(out.notes.end(), one.notes.begin(), one.notes.end());
}

}  // namespace gambrel::trace_detail
