// Kernel to launch by correlation, launch to the operator that encloses it on its thread, and from there to module,
// phase and step.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "trace/call_inputs.hpp"
#include "trace/events.hpp"
#include "trace/place.hpp"

namespace gambrel::trace_detail {
namespace {

class Linker {
public:
    Linker(Events& events, Timeline& timeline) : e_(events), t_(timeline) {}

    void run() {
        sort_host();
        sweep();
        find_steps();
        index_launches();
        t_.operators += static_cast<std::uint64_t>(std::count_if(
            e_.host.begin(), e_.host.end(), [](const HostEvent& h) { return h.kind == HostEvent::Kind::op; }));
        t_.ranks.push_back({e_.rank ? std::to_string(*e_.rank) : std::string{}, e_.source});
        std::sort(e_.gpu.begin(), e_.gpu.end(), [](const GpuEvent& a, const GpuEvent& b) {
            return a.start != b.start ? a.start < b.start : a.stream < b.stream;
        });
        t_.activities.reserve(t_.activities.size() + e_.gpu.size());
        for (const GpuEvent& gpu : e_.gpu) add(gpu);
    }

private:
    void sort_host() {
        std::sort(e_.host.begin(), e_.host.end(), [](const HostEvent& a, const HostEvent& b) {
            if (a.thread != b.thread) return a.thread < b.thread;
            if (a.start != b.start) return a.start < b.start;
            return a.end > b.end;
        });
        std::sort(e_.calls.begin(), e_.calls.end(), [](const LaunchCall& a, const LaunchCall& b) {
            return a.thread != b.thread ? a.thread < b.thread : a.start < b.start;
        });
    }

    Place place_of(std::size_t i, const Place& outer) {
        const HostEvent& h = e_.host[i];
        Place place = outer;
        const std::string_view name = e_.strings.text(h.name);
        place.phase = phase_of(name, outer.phase);
        if (outer.depth >= kDeepest) return place;
        ++place.depth;
        if (h.kind == HostEvent::Kind::op) {
            place.above = outer.op;
            place.op = static_cast<std::int32_t>(i);
        } else if (h.kind == HostEvent::Kind::module) {
            const auto [it, fresh] = paths_.try_emplace({outer.module, h.name}, 0);
            if (fresh) {
                const std::string_view own = name.starts_with("nn.Module: ") ? name.substr(11) : name;
                std::string path(e_.strings.text(outer.module));
                path += path.empty() ? "" : "/";
                path += own;
                it->second = e_.strings.id(path);
            }
            place.module = it->second;
        }
        return place;
    }

    // One walk over each thread: what is open when a launch is called encloses it.
    void sweep() {
        places_.resize(e_.host.size());
        launch_places_.resize(e_.calls.size());
        std::size_t call = 0, host = 0;
        std::vector<std::size_t> open;
        while (host < e_.host.size() || call < e_.calls.size()) {
            const std::uint32_t thread = std::min(host < e_.host.size() ? e_.host[host].thread : ~0U,
                                                  call < e_.calls.size() ? e_.calls[call].thread : ~0U);
            open.clear();
            const auto close_before = [&](std::int64_t time) {
                while (!open.empty() && e_.host[open.back()].end <= time) open.pop_back();
            };
            bool backward = false;
            while (true) {
                const bool has_host = host < e_.host.size() && e_.host[host].thread == thread;
                const bool has_call = call < e_.calls.size() && e_.calls[call].thread == thread;
                if (!has_host && !has_call) break;
                // Of equal times the operator is first: it encloses the call.
                if (has_host && (!has_call || e_.host[host].start <= e_.calls[call].start)) {
                    close_before(e_.host[host].start);
                    places_[host] = place_of(host, open.empty() ? Place{} : places_[open.back()]);
                    backward |= places_[host].phase == Phase::backward;
                    remember_sequence(host);
                    open.push_back(host++);
                } else {
                    close_before(e_.calls[call].start);
                    launch_places_[call] = open.empty() ? Place{} : places_[open.back()];
                    if (open.empty() && backward) launch_places_[call].phase = Phase::backward;
                    ++call;
                }
            }
        }
    }

    // Forward operators hand their sequence number to the node that computes their gradient.
    void remember_sequence(std::size_t i) {
        const Arguments& a = e_.arguments[e_.host[i].arguments];
        if (a.external >= 0) by_external_[a.external] = static_cast<std::int32_t>(i);
        if (a.sequence >= 0 && places_[i].phase == Phase::forward && places_[i].module != 0)
            module_of_sequence_[a.sequence] = places_[i].module;
    }

    StringId module_of(const Place& place) const {
        if (place.module != 0 || place.phase != Phase::backward) return place.module;
        for (std::int32_t op = place.op; op >= 0; op = places_[static_cast<std::size_t>(op)].above) {
            const Arguments& a = e_.arguments[e_.host[static_cast<std::size_t>(op)].arguments];
            if (a.sequence < 0) continue;
            if (const auto it = module_of_sequence_.find(a.sequence); it != module_of_sequence_.end())
                return it->second;
        }
        return 0;
    }

    void find_steps() {
        for (const HostEvent& h : e_.host) {
            const std::string_view name = e_.strings.text(h.name);
            if (name.starts_with("ProfilerStep")) steps_.push_back({h.start, h.end});
        }
        std::sort(steps_.begin(), steps_.end());
        t_.steps = std::max<std::uint64_t>(t_.steps, steps_.size());
    }

    std::int32_t step_at(std::int64_t time) const {
        const auto it = std::upper_bound(steps_.begin(), steps_.end(), std::pair{time, std::int64_t{1} << 62U});
        if (it == steps_.begin() || std::prev(it)->second < time) return -1;
        return static_cast<std::int32_t>(it - steps_.begin()) - 1;
    }

    void index_launches() {
        launches_.reserve(e_.calls.size());
        for (std::size_t i = 0; i < e_.calls.size(); ++i) {
            const auto [it, fresh] = launches_.try_emplace(e_.calls[i].correlation, i);
            if (!fresh && e_.strings.text(e_.calls[i].name).find("Launch") != std::string_view::npos) it->second = i;
        }
    }

    // Distinct calls only: a network of a hundred equal blocks has few.
    std::int32_t call_of(std::int32_t op) {
        if (op < 0) return -1;
        const auto i = static_cast<std::size_t>(op);
        if (call_of_op_.empty()) call_of_op_.assign(e_.host.size(), -2);
        if (call_of_op_[i] != -2) return call_of_op_[i];
        const std::int32_t parent = call_of(places_[i].above);
        const HostEvent& h = e_.host[i];
        const Arguments& a = e_.arguments[h.arguments];
        const StringId next = a.values == 0 ? text_of_next(i) : 0;
        const Key key{h.name, a.dims, a.types, a.strides, a.values, static_cast<std::uint32_t>(parent), next};
        const auto [it, fresh] = calls_.try_emplace(key, static_cast<std::int32_t>(t_.calls.size()));
        if (fresh) {
            const auto text = [&](StringId id) { return e_.strings.text(id); };
            t_.calls.push_back({Symbol(text(h.name)),
                                inputs_of(text(a.dims), text(a.types), text(a.strides), text(a.values)), parent,
                                next == 0 ? OperatorInput::Dims{} : first_image(text(next))});
        }
        return call_of_op_[i] = it->second;
    }

    // Shapes of the operator that follows a convolution whose stride and padding were not recorded.
    StringId text_of_next(std::size_t i) const {
        if (e_.strings.text(e_.host[i].name).find("conv") == std::string_view::npos) return 0;
        for (std::size_t next = i + 1; next < std::min(i + 100, e_.host.size()); ++next) {
            const HostEvent& h = e_.host[next];
            if (h.thread != e_.host[i].thread) return 0;
            if (h.start < e_.host[i].end || h.kind != HostEvent::Kind::op) continue;
            const StringId dims = e_.arguments[h.arguments].dims;
            if (dims != 0 && !first_image(e_.strings.text(dims)).empty()) return dims;
        }
        return 0;
    }

    void add(const GpuEvent& gpu) {
        Activity a;
        a.name = symbol(gpu.name);
        a.start_ns = gpu.start;
        a.duration_ns = gpu.duration;
        a.kind = gpu.kind;
        a.device = device_of(gpu.device);
        a.gpu = gpu.device;
        a.stream = gpu.stream;
        a.shape = {gpu.grid, gpu.block};
        a.bytes = gpu.bytes;
        a.registers = gpu.registers;
        a.shared_memory = gpu.shared_memory;
        Place place;
        const auto it = gpu.correlation == kNone ? launches_.end() : launches_.find(gpu.correlation);
        if (it != launches_.end()) {
            const LaunchCall& call = e_.calls[it->second];
            place = launch_places_[it->second];
            a.launch_ns = call.start;
            if (place.op < 0) place = by_external(gpu.external, call.start, place);
            const bool graph = e_.strings.text(call.name).find("GraphLaunch") != std::string_view::npos;
            a.launch = graph           ? Activity::Launch::graph
                       : place.op >= 0 ? Activity::Launch::operation
                                       : Activity::Launch::no_operation;
        } else if (gpu.graph_node) {
            a.launch = Activity::Launch::graph;
        } else if (e_.has_launches && gpu.correlation != kNone) {
            a.launch = Activity::Launch::before_capture;
        } else {  // nothing but the external id can join it
            place = by_external(gpu.external, kNone, place);
            if (place.op >= 0) a.launch = Activity::Launch::operation;
        }
        if (a.launch == Activity::Launch::operation || a.launch == Activity::Launch::no_operation)
            a.phase = phase_symbol(place);
        a.module = symbol(module_of(place));
        a.call = call_of(place.op);
        a.instance = place.op;
        a.step = step_at(a.launch_ns >= 0 ? a.launch_ns : gpu.start);
        t_.activities.push_back(a);
    }

    // An external id names the operator only if that operator was open when the launch was called: in traces of 2022
    // and 2023 it is a correlation id, which names another.
    Place by_external(std::int64_t external, std::int64_t time, const Place& otherwise) const {
        const auto it = by_external_.find(external);
        if (external < 0 || it == by_external_.end()) return otherwise;
        const HostEvent& h = e_.host[static_cast<std::size_t>(it->second)];
        if (time != kNone && (time < h.start || time > h.end)) return otherwise;
        return places_[static_cast<std::size_t>(it->second)];
    }

    static Symbol phase_symbol(const Place& place) {
        static const std::array<Symbol, 3> kNames = {Symbol("forward"), Symbol("backward"), Symbol("optimizer")};
        return kNames[static_cast<std::size_t>(place.phase)];
    }

    Symbol symbol(StringId id) {
        if (id == 0) return {};
        const auto [it, fresh] = symbols_.try_emplace(id);
        if (fresh) it->second = Symbol(e_.strings.text(id));
        return it->second;
    }

    // A number that the file does not describe is of the same kind as those it does, if they are all alike.
    Timeline::Device only_device() const {
        if (e_.devices.empty()) return {};
        const Timeline::Device& first = e_.devices.begin()->second;
        const bool alike =
            std::all_of(e_.devices.begin(), e_.devices.end(), [&](const auto& entry) { return entry.second == first; });
        return alike ? first : Timeline::Device{};
    }

    std::uint32_t device_of(std::int32_t number) {
        const auto [it, fresh] = devices_.try_emplace(number, 0);
        if (!fresh) return it->second;
        const auto known = e_.devices.find(number);
        Timeline::Device device = known == e_.devices.end() ? only_device() : known->second;
        const auto same = std::find(t_.devices.begin(), t_.devices.end(), device);
        it->second = static_cast<std::uint32_t>(same - t_.devices.begin());
        if (same == t_.devices.end()) t_.devices.push_back(std::move(device));
        return it->second;
    }

    using Key = std::array<std::uint32_t, 7>;
    Events& e_;
    Timeline& t_;
    std::vector<Place> places_, launch_places_;
    std::map<std::pair<StringId, StringId>, StringId> paths_;
    std::unordered_map<std::int64_t, StringId> module_of_sequence_;
    std::unordered_map<std::int64_t, std::int32_t> by_external_;
    std::vector<std::pair<std::int64_t, std::int64_t>> steps_;
    std::unordered_map<std::int64_t, std::size_t> launches_;
    std::vector<std::int32_t> call_of_op_;
    std::map<Key, std::int32_t> calls_;
    std::unordered_map<StringId, Symbol> symbols_;
    std::unordered_map<std::int32_t, std::uint32_t> devices_;
};

}  // namespace

Timeline linked(Events events) {
    Timeline out;
    out.partial = events.partial;
    out.notes = events.notes;
    Linker(events, out).run();
    return out;
}

}  // namespace gambrel::trace_detail
