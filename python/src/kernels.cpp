#include "results.hpp"

namespace gambrel::python {
namespace {

template <class Verdict>
auto bind_roof(nb::module_& m, const char* title, const char* doc) {
    return nb::class_<Verdict>(m, title, doc)
        .def_prop_ro("ceiling", [](const Verdict& v) { return v.ceiling.value(); })
        .def_prop_ro("ceiling_origin", [](const Verdict& v) { return std::string(name(v.ceiling_origin)); })
        .def_ro("ceiling_cite", &Verdict::ceiling_cite)
        .def_prop_ro("achieved", [](const Verdict& v) { return v.achieved.value(); })
        .def_prop_ro(
            "shortest", [](const Verdict& v) { return v.shortest.value(); }, "The shortest time in s.")
        .def_ro("of_ceiling", &Verdict::of_ceiling);
}

std::vector<std::string> texts(const std::vector<Symbol>& symbols) {
    std::vector<std::string> out;
    for (const Symbol s : symbols) out.push_back(s.str());
    return out;
}

template <class F>
auto amounts_of(F of) {
    return [of](const KernelObject& o) {
        Amounts all;
        of(o.row->kernel, all);
        return all;
    };
}

using Shape = std::optional<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;
Shape shape_of(const KernelObject& o, bool grid) {
    const auto& shape = o.row->kernel.shape;
    if (!shape) return std::nullopt;
    const auto& a = grid ? shape->grid : shape->block;
    return std::tuple(a[0], a[1], a[2]);
}

}  // namespace

void bind_kernels(nb::module_& m) {
    bind_roof<LevelVerdict>(m, "LevelRoof", "A kernel at one memory level; rates in B/s.")
        .def_prop_ro("level", [](const LevelVerdict& v) { return std::string(name(v.level)); })
        .def_prop_ro(
            "intensity", [](const LevelVerdict& v) { return base_units(v.intensity); }, "FLOP/B")
        .def_prop_ro(
            "roof", [](const LevelVerdict& v) { return base_units(v.roof); }, "FLOP/s");
    bind_roof<PipeVerdict>(m, "PipeRoof", "A kernel at one arithmetic pipe; rates in FLOP/s.")
        .def_prop_ro("pipe", [](const PipeVerdict& v) { return std::string(name(v.pipe)); });
    const auto symbol = [](Symbol Kernel::*field) {
        return [field](const KernelObject& o) { return (o.row->kernel.*field).str(); };
    };
    nb::class_<KernelObject>(m, "Kernel",
                             "A launch, or a group of launches or a layer, and the verdict on it. None is unknown.")
        .def_prop_ro("name", symbol(&Kernel::name))
        .def_prop_ro("short_name", [](const KernelObject& o) { return short_name(o.row->kernel.name.str()); })
        .def_prop_ro("phase", symbol(&Kernel::phase))
        .def_prop_ro("source", symbol(&Kernel::source))
        .def_prop_ro("device", symbol(&Kernel::device))
        .def_prop_ro("op", symbol(&Kernel::op), "Of a trace or a module: the operator.")
        .def_prop_ro("module", symbol(&Kernel::module), "Of a trace or a module: the path of the module.")
        .def_prop_ro("rank", symbol(&Kernel::rank))
        .def_prop_ro("time_class", symbol(&Kernel::time_class))
        .def_prop_ro(
            "machine",
            [](const KernelObject& o) { return o.machine ? std::optional(MachineObject(o.machine)) : std::nullopt; })
        .def_prop_ro("launches", [](const KernelObject& o) { return o.row->kernel.launches; })
        .def_prop_ro(
            "time", [](const KernelObject& o) { return base_units(o.row->kernel.time); }, "s")
        .def_prop_ro(
            "origin",
            [](const KernelObject& o) {
                const auto& time = o.row->kernel.time;
                return time ? std::optional(std::string(name(time->origin))) : std::nullopt;
            },
            "Of the time: measured, modelled or simulated.")
        .def_prop_ro("flop", [](const KernelObject& o) { return base_units(flop(o.row->kernel)); })
        .def_prop_ro("tensor_flop", [](const KernelObject& o) { return base_units(tensor_flop(o.row->kernel)); })
        .def_prop_ro(
            "flop_rate", [](const KernelObject& o) { return base_units(flop_rate(o.row->kernel)); }, "FLOP/s")
        .def_prop_ro("work", amounts_of([](const Kernel& k, Amounts& all) {
                         for (const Pipe p : all_pipes())
                             if (const auto work = base_units(k.work[p])) all[std::string(name(p))] = *work;
                     }),
                     "FLOP by pipe.")
        .def_prop_ro("bytes", amounts_of([](const Kernel& k, Amounts& all) {
                         for (const Level l : all_levels())
                             if (const auto bytes = base_units(k.bytes[l])) all[std::string(name(l))] = *bytes;
                     }),
                     "Bytes by level.")
        .def_prop_ro("intensity", amounts_of([](const Kernel& k, Amounts& all) {
                         for (const Level l : all_levels())
                             if (const auto ai = intensity(k, l)) all[std::string(name(l))] = ai->value();
                     }),
                     "FLOP/B by level.")
        .def_prop_ro(
            "clock", [](const KernelObject& o) { return base_units(o.row->kernel.clock); }, "Hz")
        .def_prop_ro("gauges", amounts_of([](const Kernel& k, Amounts& all) {
                         for (const Kernel::Gauge& g : k.gauges) all[g.name.str()] = g.reading.value;
                     }),
                     "What else the source states about it: occupancy, registers, hit rates, reasons of stalls.")
        .def_prop_ro("grid", [](const KernelObject& o) { return shape_of(o, true); })
        .def_prop_ro("block", [](const KernelObject& o) { return shape_of(o, false); })
        .def_prop_ro("reasons", [](const KernelObject& o) { return texts(o.row->kernel.reasons); })
        .def_prop_ro("remedies", [](const KernelObject& o) { return texts(o.row->kernel.remedies); })
        .def_prop_ro(
            "bound", [](const KernelObject& o) { return some(to_text(o.row->verdict.bound)); }, "The roof that binds.")
        .def_prop_ro(
            "of_roof", [](const KernelObject& o) { return o.row->verdict.of_roof; },
            "Share of the binding roof that it reaches.")
        .def_prop_ro(
            "headroom", [](const KernelObject& o) { return base_units(o.row->verdict.headroom); }, "s")
        .def_prop_ro("levels", [](const KernelObject& o) { return o.row->verdict.levels; })
        .def_prop_ro("pipes", [](const KernelObject& o) { return o.row->verdict.pipes; })
        .def_prop_ro("findings", [](const KernelObject& o) { return o.row->verdict.findings; })
        .def("__repr__", [](const KernelObject& o) {
            const Kernel& k = o.row->kernel;
            const std::string time = k.time ? to_text(k.time->value, 3) : "time unknown";
            const std::string bound = to_text(o.row->verdict.bound);
            return "<Kernel " + short_name(k.name.str()) + ", " + time + (bound.empty() ? "" : ", bound by " + bound) +
                   ">";
        });
}

void bind_timelines(nb::module_& m) {
    nb::class_<TimelineSummary::Unmodelled>(m, "UnmodelledTime", "Time of a trace that no model covers.")
        .def_prop_ro("op", [](const TimelineSummary::Unmodelled& u) { return u.op.str(); })
        .def_prop_ro("reason", [](const TimelineSummary::Unmodelled& u) { return u.reason.str(); })
        .def_ro("ns", &TimelineSummary::Unmodelled::ns)
        .def_ro("events", &TimelineSummary::Unmodelled::events);
    nb::class_<TimelineSummary>(m, "Timeline", "What the GPU time of a trace is made of, in ns.")
        .def_prop_ro("classes",
                     [](const TimelineSummary& t) {
                         std::map<std::string, std::uint64_t> all;
                         for (std::size_t i = 0; i < kTimeClasses; ++i)
                             all[std::string(name(static_cast<TimeClass>(i)))] = t.classes[i].ns;
                         return all;
                     })
        .def_ro("gpu_ns", &TimelineSummary::gpu_ns)
        .def_ro("wall_ns", &TimelineSummary::wall_ns)
        .def_ro("idle_ns", &TimelineSummary::idle_ns)
        .def_ro("exposed_communication_ns", &TimelineSummary::exposed_communication_ns)
        .def_ro("launch_bound_ns", &TimelineSummary::launch_bound_ns)
        .def_ro("ranks", &TimelineSummary::ranks)
        .def_ro("steps", &TimelineSummary::steps)
        .def_ro("unmodelled", &TimelineSummary::unmodelled);
}

}  // namespace gambrel::python
