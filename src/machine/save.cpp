// Machine to JSON: what parse_machine reads, so that saving and loading gives the same machine.
#include <gambrel/machine.hpp>
#include <nlohmann/json.hpp>

namespace gambrel {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <class Q>
OrderedJson value_of(Q value) {
    if constexpr (std::is_same_v<Q, double>)
        return value;
    else
        return exact_text(value);
}

template <class Q>
OrderedJson fact_of(const Sourced<Q>& s) {
    return {{"value", value_of(s.value)}, {"origin", name(s.origin)}, {"cite", s.cite}};
}

template <class Q>
void put(OrderedJson& object, const char* key, const Fact<Q>& fact) {
    if (fact) object[key] = fact_of(*fact);
}

template <class Q>
void put(OrderedJson& object, const std::string& key, const std::optional<AtClock<Q>>& measured) {
    if (!measured) return;
    OrderedJson m = fact_of(measured->ceiling);
    if (measured->clock) m["clock"] = exact_text(*measured->clock);
    object[key] = std::move(m);
}

OrderedJson sm_of(const Machine& m) {
    OrderedJson sm = OrderedJson::object();
    put(sm, "count", m.sm.sms);
    put(sm, "schedulers", m.sm.schedulers);
    put(sm, "max_warps", m.sm.max_warps);
    put(sm, "max_ctas", m.sm.max_ctas);
    put(sm, "registers", m.sm.registers);
    put(sm, "shared_memory", m.sm.shared_memory);
    put(sm, "shared_memory_per_cta", m.sm.shared_memory_per_cta);
    OrderedJson lanes = OrderedJson::object();
    for (const Pipe p : all_pipes())
        if (!is_tensor(p) && m.pipes[p].dense) {
            auto& rate = *m.pipes[p].dense;
            lanes[std::string(name(p))] =
                fact_of(Sourced<double>{rate.value.value() / (is_integer(p) ? 1 : 2), rate.origin, rate.cite});
        }
    if (!lanes.empty()) sm["lanes"] = std::move(lanes);
    return sm;
}

OrderedJson memory_of(const Machine& m) {
    OrderedJson memory = OrderedJson::object();
    put(memory, "sector", m.sm.sector);
    put(memory, "line", m.sm.line);
    OrderedJson levels = OrderedJson::array();
    for (const auto& l : m.levels) {
        OrderedJson level{{"name", name(l.level)}, {"scope", l.per_sm ? "sm" : "gpu"}};
        put(level, "capacity", l.capacity);
        put(level, "width", l.width);
        put(level, "bandwidth", l.bandwidth);
        put(level, "partitions", l.partitions);
        put(level, "inline_ecc", l.inline_ecc);
        put(level, "ecc_block", l.ecc_block);
        put(level, "latency", l.latency);
        put(level, "measured", l.measured);
        levels.push_back(std::move(level));
    }
    memory["levels"] = std::move(levels);
    return memory;
}

}  // namespace

std::string to_json(const Machine& m) {
    OrderedJson out{{"schema", 1}, {"id", m.id}, {"name", m.name}};
    if (!m.aliases.empty()) out["aliases"] = m.aliases;
    if (!m.architecture.empty()) out["architecture"] = m.architecture;
    if (!m.chip.empty()) out["chip"] = m.chip;
    if (m.compute_capability) out["compute_capability"] = to_text(*m.compute_capability);
    if (!m.note.empty()) out["note"] = m.note;
    if (!m.partial.empty()) out["partial"] = m.partial;
    OrderedJson clocks = OrderedJson::object();
    put(clocks, "base", m.clocks.base);
    put(clocks, "boost", m.clocks.boost);
    put(clocks, "memory", m.clocks.memory);
    if (!clocks.empty()) out["clocks"] = std::move(clocks);
    put(out, "board_power_w", m.board_power);
    put(out, "launch", m.launch);
    put(out, "fourier_vectors", m.fourier_vectors);
    if (OrderedJson sm = sm_of(m); !sm.empty()) {
        if (!m.sm.sms) sm["count"] = "unknown";
        out["sm"] = std::move(sm);
    }
    OrderedJson tensor = OrderedJson::object(), stated = OrderedJson::object(), measured = OrderedJson::object();
    for (const Pipe p : all_pipes()) {
        const auto& a = m.pipes[p];
        const std::string key(name(p));
        if (is_tensor(p) && (a.dense || a.sparse)) {
            OrderedJson rates = OrderedJson::object();
            if (!a.dense) rates["dense"] = "unknown";
            put(rates, "dense", a.dense);
            put(rates, "sparse", a.sparse);
            tensor[key.substr(7)] = std::move(rates);
        }
        put(stated, key, a.stated);
        put(stated, key + "_sparse", a.stated_sparse);
        put(measured, key, a.measured);
    }
    if (!tensor.empty()) out["tensor"] = std::move(tensor);
    out["memory"] = memory_of(m);
    if (!stated.empty()) out["stated_peaks"] = std::move(stated);
    if (!measured.empty()) out["measured_peaks"] = std::move(measured);
    return out.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gambrel
