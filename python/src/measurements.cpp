#include "results.hpp"

namespace gambrel::python {
namespace {

struct MeasurementObject : Document {
    std::shared_ptr<const Measurement> measurement;

    [[nodiscard]] std::string text(const TextStyle& style) const override {
        return measurement_text(*measurement, style);
    }
    [[nodiscard]] std::string csv() const override { return measurement_csv(*measurement); }
    // As `gambrel measure -o x.json` writes it: a machine file.
    [[nodiscard]] std::string json() const override { return to_json(measured_machine(*measurement)); }
    [[nodiscard]] Result<std::string> svg(const ChartStyle& style) const override {
        return roofline_svg(machine_analysis(measured_machine(*measurement), "Measured Roofline"), style);
    }
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override {
        return result_page(*measurement, style);
    }
    [[nodiscard]] Table table() const override;
};

std::string kind_of(const MeasuredCeiling& c) {
    static constexpr const char* kNames[] = {"compute", "bandwidth", "latency", "launch", "link"};
    return kNames[static_cast<std::size_t>(c.kind)];
}
std::string unit_of(const MeasuredCeiling& c) {
    return c.kind == CeilingKind::compute                                    ? "FLOP/s"
           : c.kind == CeilingKind::latency || c.kind == CeilingKind::launch ? "s"
                                                                             : "B/s";
}

Table MeasurementObject::table() const {
    const auto& rows = measurement->ceilings;
    Table t;
    t.add("title", rows, [](const MeasuredCeiling& c) { return c.title; });
    t.add("kind", rows, kind_of);
    t.add("action", rows, [](const MeasuredCeiling& c) { return std::string(name(c.action)); });
    t.add("pipe", rows,
          [](const MeasuredCeiling& c) { return c.pipe ? some(std::string(name(*c.pipe))) : std::nullopt; });
    t.add("level", rows,
          [](const MeasuredCeiling& c) { return c.level ? some(std::string(name(*c.level))) : std::nullopt; });
    t.add("units", rows, [](const MeasuredCeiling& c) { return c.units; });
    t.add("working_set_bytes", rows, [](const MeasuredCeiling& c) { return base_units(c.working_set); });
    t.add("ceiling", rows, [](const MeasuredCeiling& c) { return std::optional(c.value.median); });
    t.add("low", rows, [](const MeasuredCeiling& c) { return std::optional(c.value.low); });
    t.add("high", rows, [](const MeasuredCeiling& c) { return std::optional(c.value.high); });
    t.add("samples", rows, [](const MeasuredCeiling& c) { return static_cast<std::int64_t>(c.samples.count); });
    t.add("unit", rows, unit_of);
    t.add("theoretical", rows, [](const MeasuredCeiling& c) { return c.theoretical; });
    t.add("clock_hz", rows, [](const MeasuredCeiling& c) { return base_units(c.clock); });
    t.add("roof", rows, [](const MeasuredCeiling& c) { return static_cast<std::int64_t>(c.primary); });
    t.add("fault", rows, [](const MeasuredCeiling& c) { return c.fault; });
    return t;
}

MeasurementObject measure_device(const std::string& device, bool quick, double budget, double sustained, bool prove,
                                 const nb::object& progress) {
    MeasureOptions options;
    options.quick = quick;
    options.budget = Seconds{budget};
    options.sustained = Seconds{sustained};
    options.prove = prove;
    MeasurementObject out;
    out.measurement = watched(progress, [&](Watch& watch) {
        options.stop = [&] { return watch.stopped(); };
        options.progress = [&](double fraction, std::string_view doing) { watch.report(fraction, doing); };
        return std::make_shared<const Measurement>(checked(measure(device, options)));
    });
    return out;
}

}  // namespace

void bind_measurements(nb::module_& m) {
    nb::class_<MeasuredCeiling>(m, "Ceiling", "What one micro-benchmark reached.")
        .def_ro("title", &MeasuredCeiling::title)
        .def_prop_ro("kind", &kind_of)
        .def_prop_ro("unit", &unit_of)
        .def_prop_ro("pipe",
                     [](const MeasuredCeiling& c) { return c.pipe ? some(std::string(name(*c.pipe))) : std::nullopt; })
        .def_prop_ro(
            "level",
            [](const MeasuredCeiling& c) { return c.level ? some(std::string(name(*c.level))) : std::nullopt; })
        .def_prop_ro("value", [](const MeasuredCeiling& c) { return c.value.median; })
        .def_prop_ro("interval", [](const MeasuredCeiling& c) { return std::pair(c.value.low, c.value.high); })
        .def_prop_ro("samples", [](const MeasuredCeiling& c) { return c.samples.count; })
        .def_ro("theoretical", &MeasuredCeiling::theoretical)
        .def_ro("fault", &MeasuredCeiling::fault, "Why it proves nothing; None if it does.")
        .def_ro("notes", &MeasuredCeiling::notes)
        .def_ro("primary", &MeasuredCeiling::primary, "It is the roof of its pipe or level.")
        .def("__repr__", [](const MeasuredCeiling& c) { return "<Ceiling " + c.title + ">"; });
    nb::class_<MeasurementObject, Document>(m, "Measurement", "What a device reached.")
        .def_prop_ro("device", [](const MeasurementObject& o) { return o.measurement->device.name; })
        .def_prop_ro("simulated",
                     [](const MeasurementObject& o) { return o.measurement->device.kind == DeviceKind::simulated; })
        .def_prop_ro("ceilings", [](const MeasurementObject& o) { return o.measurement->ceilings; })
        .def_prop_ro("partial", [](const MeasurementObject& o) { return o.measurement->interrupted; })
        .def_prop_ro(
            "took", [](const MeasurementObject& o) { return o.measurement->took.value(); }, "s")
        .def_prop_ro("date", [](const MeasurementObject& o) { return o.measurement->date; })
        .def_prop_ro(
            "failed", [](const MeasurementObject& o) { return has_failures(*o.measurement); },
            "A ceiling did not prove itself.")
        .def_prop_ro(
            "machine",
            [](const MeasurementObject& o) {
                return MachineObject(std::make_shared<const Machine>(measured_machine(*o.measurement)));
            },
            "The machine, with the ceilings that passed their checks as measured roofs.");
    m.def("measure", &measure_device, "device"_a = "cpu", "quick"_a = false, "budget"_a = 0.0, "sustained"_a = 0.0,
          "prove"_a = false, "progress"_a = nb::none());
    m.def("devices", [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const DeviceFound& d : find_devices()) all.emplace_back(d.argument, d.name);
        return all;
    });
}

}  // namespace gambrel::python
