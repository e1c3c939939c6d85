#include <algorithm>

#include <gambrel/doctor.hpp>
#include <gambrel/report.hpp>

#include "app/child_process.hpp"
#include "app/command.hpp"
#include "app/mpi_world.hpp"
#include "app/ncu_tool.hpp"
#include "app/output.hpp"

namespace gambrel::app {
namespace {

Finding ncu() {
    const auto tool = find_ncu("");
    if (tool)
        return {Health::good, "Nsight Compute", tool->path + (tool->version ? ", " + to_text(*tool->version) : ""),
                "gambrel profile can run it", ""};
    return {Health::missing, "Nsight Compute", "no ncu on PATH or where installers put it",
            "no profile can be taken here; reports of other machines can be analysed",
            "install Nsight Compute (part of the CUDA toolkit), or give gambrel profile --ncu PATH"};
}

Finding mpi() {
    if (!MpiWorld::built_with_mpi())
        return {Health::missing, "MPI", "this gambrel was built without it",
                "mpirun gambrel measure is as many single runs",
                "apt install libopenmpi-dev openmpi-bin, then build again"};
    if (const auto path = find_program("mpirun"))
        return {Health::good, "MPI", *path, "mpirun gambrel measure compares the nodes", ""};
    return {Health::poor, "MPI", "built in, but there is no mpirun on PATH", "srun may start the ranks as well",
            "apt install openmpi-bin"};
}

int run(bool strict) {
    std::vector<Finding> findings = examine();
    findings.insert(findings.begin() + 3, ncu());
    findings.push_back(mpi());
    if (!print_result(doctor_text(findings, terminal_style()))) return kBadInput;
    const bool sound = std::all_of(findings.begin(), findings.end(), [](auto& f) { return f.health == Health::good; });
    return strict && !sound ? kNo : kDone;
}

}  // namespace

Action setup_doctor(CLI::App& command) {
    auto strict = std::make_shared<bool>(false);
    command.add_flag("--strict", *strict);
    return [strict] { return run(*strict); };
}

}  // namespace gambrel::app
