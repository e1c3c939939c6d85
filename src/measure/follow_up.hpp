// What a run does once its ceilings stand: holds roofs for longer, tries operands like real data, asks counters whether
// bytes came from where a ceiling says.
#pragma once

#include "measure/plan.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {

struct MeasuredStep {
    CeilingStep step;
    Repeater samples;
    std::vector<std::string> notes;  // of the driver and of the sweep
};
// Step i gave ceiling i.
struct Standing {
    Session& session;
    const std::vector<MeasuredStep>& steps;
    Measurement& result;
};
void sustain(const Standing& run, Seconds time);   // the roofs, each for as long
void try_realistic_operands(const Standing& run);  // the fastest matrix instruction of each type
void prove_by_counters(const Standing& run);       // every memory ceiling; a contradicted one has failed

// What the groups of a launch tell a reader: nothing, or that some were slow.
std::vector<std::string> group_remarks(const std::vector<GroupTime>& groups);

// How the counted bytes contradict a ceiling of `level`; "" if they do not. `cached` may stay in the L2 at the end of a
// run that writes.
std::string contradiction(Level level, bool writes, Bytes moved, const LevelBytes& counted, Bytes cached);

}  // namespace gambrel::measure_detail
