#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gambrel/kernel.hpp>

namespace gambrel {
namespace {

template <class Q>
void multiply(Known<Q>& amount, double times) {
    if (amount) amount->value *= times;
}

// Whether a machine that was chosen by hand can be the one that the source describes: the same name, or nothing that
// tells the two apart.
bool may_be(const Machine& described, const Machine& chosen) {
    if (described.compute_capability && chosen.compute_capability)
        if (*described.compute_capability != *chosen.compute_capability) return false;
    const Machine* known = find_in_catalogue(described.name);
    return !known || known->id == chosen.id || chosen.made_from != MachineSource::catalogue;
}

bool is_complete(const Machine& m) {
    return m.made_from != MachineSource::report && (m.sm.sms.has_value() || !m.levels.empty());
}

}  // namespace

Kernel repeated(Kernel kernel, double times) {
    kernel.launches = static_cast<std::uint64_t>(std::max(1.0, std::round(times)));
    if (kernel.zero_flop_launches > 0) kernel.zero_flop_launches = kernel.launches;
    multiply(kernel.time, times);
    for (Known<Flops>& work : kernel.work) multiply(work, times);
    multiply(kernel.sparse_work, times);
    for (Known<Bytes>& bytes : kernel.bytes) multiply(bytes, times);
    return kernel;
}

std::string_view name(TimeClass time_class) {
    static constexpr std::array<std::string_view, kTimeClasses> kNames = {
        "modelled", "unmodelled", "before_capture", "graph", "communication", "copy", "memset"};
    return kNames[static_cast<std::size_t>(time_class)];
}

void resolve_machines(Run& run, const Machine* chosen) {
    for (Machine& machine : run.machines) {
        if (chosen) {
            if (!may_be(machine, *chosen))
                run.notes.push_back({machine.name, fmt::format("the files name this GPU, but it is judged as {}, which "
                                                               "was asked for: percentages of its roofs mean little",
                                                               chosen->name)});
            machine = *chosen;
            continue;
        }
        // A result that was saved carries its machine in full; the catalogue may have changed since.
        if (is_complete(machine)) continue;
        if (const Machine* known = find_in_catalogue(machine.name)) {
            machine = *known;
            continue;
        }
        if (!machine.sm.sms)
            run.notes.push_back({machine.name,
                                 "the files do not say which GPU it was, so there are no roofs; name it with "
                                 "--machine NAME"});
        else
            run.notes.push_back(
                {machine.name, "not in the catalogue: its ceilings come from the attributes and peaks in the files"});
    }
}

Roofs default_roofs(const Run& run) {
    if (run.roofs) return *run.roofs;
    if (run.machines.empty()) return Roofs::theoretical;
    const Machine& m = run.machines.front();
    const bool own = m.made_from == MachineSource::file || m.made_from == MachineSource::measurement;
    const bool has_measured =
        std::any_of(m.levels.begin(), m.levels.end(), [](const MemoryLevel& l) { return l.measured.has_value(); });
    return own && has_measured ? Roofs::measured : Roofs::theoretical;
}

}  // namespace gambrel
