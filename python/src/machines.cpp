#include "results.hpp"

namespace gambrel::python {
namespace {

// A catalogue, or a part of it.
struct MachinesObject : Document {
    std::vector<Machine> machines;

    [[nodiscard]] std::string text(const TextStyle& style) const override { return machine_list(machines, style); }
    [[nodiscard]] std::string csv() const override { return machine_list_csv(machines); }
    [[nodiscard]] std::string json() const override {
        std::string out = "[";
        for (const Machine& m : machines) out += (out.size() > 1 ? ",\n" : "\n") + to_json(m);
        return out + "]\n";
    }
    [[nodiscard]] Result<std::string> svg(const ChartStyle&) const override {
        return failure("machines", "a list has no chart; each machine has its own");
    }
    [[nodiscard]] Result<std::string> page(const PageStyle&) const override {
        return failure("machines", "a list has no page; each machine has its own");
    }
    [[nodiscard]] Table table() const override {
        Table t;
        t.add("id", machines, [](const Machine& m) { return m.id; });
        t.add("name", machines, [](const Machine& m) { return m.name; });
        t.add("architecture", machines, [](const Machine& m) { return some(m.architecture); });
        t.add("chip", machines, [](const Machine& m) { return some(m.chip); });
        t.add("compute_capability", machines, [](const Machine& m) {
            return m.compute_capability ? some(to_text(*m.compute_capability)) : std::nullopt;
        });
        t.add("sms", machines, [](const Machine& m) { return base_units(m.sm.sms); });
        t.add("boost_hz", machines, [](const Machine& m) { return base_units(m.clocks.boost); });
        for (const Pipe pipe : {Pipe::fp64, Pipe::fp32, Pipe::tensor_fp16})
            t.add(std::string(name(pipe)) + "_flop_per_s", machines, [&](const Machine& m) {
                const auto ceiling = compute_ceiling(m, pipe);
                return ceiling ? std::optional(ceiling->value.value()) : std::nullopt;
            });
        for (const auto& [level, column] :
             {std::pair{Level::l1, "l1_byte_per_s"}, {Level::l2, "l2_byte_per_s"}, {Level::dram, "dram_byte_per_s"}})
            t.add(column, machines, [&, at = level](const Machine& m) {
                const auto ceiling = memory_ceiling(m, at);
                return ceiling ? std::optional(ceiling->value.value()) : std::nullopt;
            });
        t.add("dram_capacity_bytes", machines, [](const Machine& m) {
            const MemoryLevel* dram = m.find(Level::dram);
            return dram ? base_units(dram->capacity) : std::nullopt;
        });
        return t;
    }
};

std::optional<double> flop_rate_of(const MachineObject& m, const std::string& pipe, std::optional<double> clock,
                                   const std::string& roofs, bool sparse) {
    const auto ceiling =
        compute_ceiling(*m.machine, named<Pipe>(pipe, "pipe", pipe_from, "one such as \"tensor_fp16\""),
                        clock_in(clock), roofs_from(roofs), sparse);
    return ceiling ? std::optional(ceiling->value.value()) : std::nullopt;
}

std::optional<double> bandwidth_of(const MachineObject& m, const std::string& level, std::optional<double> clock,
                                   const std::string& roofs) {
    const auto ceiling =
        memory_ceiling(*m.machine, named<Level>(level, "level", level_from, "shared, L1, L2, L3 or DRAM"),
                       clock_in(clock), roofs_from(roofs));
    return ceiling ? std::optional(ceiling->value.value()) : std::nullopt;
}

MachineObject object_of(Machine machine) { return MachineObject(std::make_shared<const Machine>(std::move(machine))); }

}  // namespace

std::string MachineObject::text(const TextStyle& style) const { return machine_sheet(*machine, style); }
std::string MachineObject::csv() const { return machine_list_csv({machine.get(), 1}); }
std::string MachineObject::json() const { return to_json(*machine); }
Result<std::string> MachineObject::svg(const ChartStyle& style) const {
    return roofline_svg(machine_analysis(*machine, machine->name), style);
}
Result<std::string> MachineObject::page(const PageStyle& style) const {
    return result_page(machine_analysis(*machine, machine->name), style);
}
Table MachineObject::table() const {
    MachinesObject one;
    one.machines = {*machine};
    return one.table();
}

void bind_machines(nb::module_& m) {
    nb::class_<MachineObject, Document>(m, "Machine", "A GPU, or another machine: ceilings, organisation, clocks.")
        .def_prop_ro("id", [](const MachineObject& o) { return o.machine->id; })
        .def_prop_ro("name", [](const MachineObject& o) { return o.machine->name; })
        .def_prop_ro("aliases", [](const MachineObject& o) { return o.machine->aliases; })
        .def_prop_ro("architecture", [](const MachineObject& o) { return o.machine->architecture; })
        .def_prop_ro("chip", [](const MachineObject& o) { return o.machine->chip; })
        .def_prop_ro("note", [](const MachineObject& o) { return o.machine->note; })
        .def_prop_ro("source", [](const MachineObject& o) { return o.machine->source; })
        .def_prop_ro("compute_capability",
                     [](const MachineObject& o) {
                         const auto& cc = o.machine->compute_capability;
                         return cc ? std::optional(std::pair(cc->major, cc->minor)) : std::nullopt;
                     })
        .def_prop_ro("sms", [](const MachineObject& o) { return base_units(o.machine->sm.sms); })
        .def_prop_ro(
            "boost_clock", [](const MachineObject& o) { return base_units(o.machine->clocks.boost); }, "Hz")
        .def_prop_ro(
            "capacity",
            [](const MachineObject& o) {
                Amounts all;
                for (const MemoryLevel& l : o.machine->levels)
                    if (const auto bytes = base_units(l.capacity)) all[std::string(name(l.level))] = *bytes;
                return all;
            },
            "Bytes by level, of one SM where the level belongs to it.")
        .def("flop_rate", &flop_rate_of, "pipe"_a, "clock"_a = nb::none(), "roofs"_a = "theoretical",
             "sparse"_a = false,
             "FLOP/s of a pipe at a clock in Hz (boost if none is given); None where the machine file does not state "
             "it.")
        .def("bandwidth", &bandwidth_of, "level"_a, "clock"_a = nb::none(), "roofs"_a = "theoretical",
             "B/s of a level; None where the machine file does not state it.");
    nb::class_<MachinesObject, Document>(m, "Machines", "A list of machines.")
        .def("__len__", [](const MachinesObject& o) { return o.machines.size(); })
        .def(
            "__getitem__",
            [](const MachinesObject& o, nb::ssize_t i) {
                const auto size = static_cast<nb::ssize_t>(o.machines.size());
                if (i < 0) i += size;
                if (i < 0 || i >= size) throw nb::index_error();
                return object_of(o.machines[static_cast<std::size_t>(i)]);
            },
            "index"_a);
    m.def(
        "machine", [](const std::string& name) { return object_of(checked(machine_from(name))); }, "name_or_path"_a);
    m.def(
        "machines",
        [](const std::string& like) {
            MachinesObject out;
            if (like.empty()) {
                const auto all = catalogue();
                out.machines.assign(all.begin(), all.end());
            } else {
                for (const Machine* board : machines_like(like)) out.machines.push_back(*board);
                if (out.machines.empty()) out.machines.push_back(checked(machine_from(like)));
            }
            return out;
        },
        "like"_a = "");
    m.def("machine_notes", [](const std::string& name) {
        const auto note = machine_choice_note(name);
        return note ? std::vector<Error>{*note} : std::vector<Error>{};
    });
}

}  // namespace gambrel::python
