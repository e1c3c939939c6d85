// Runs one probe over working sets, in rounds: a disturbance of a second then hits one sample of many points, not many
// samples of one point. Finds plateaus; a plateau becomes a ceiling only after it was run again with more care.
#pragma once

#include <map>

#include "measure/plan.hpp"
#include "measure/runner.hpp"

namespace gambrel::measure_detail {

struct SweepRun {
    MeasuredSweep sweep;
    std::map<Bytes, Repeater> samples;  // of each working set
};
SweepRun run_sweep(PreparedProbe& prepared, const SweepStep& step, Seconds deadline, Session& session);

// Where on a named plateau to measure its ceiling: the fastest point well inside the level's window, of those not below
// `least` where there are any; nullopt if the plateau has none.
std::optional<Bytes> best_set(const MeasuredSweep& sweep, const Plateau& plateau, Bytes least = {});

// Where to measure memory of which the sweep shows no plateau: at its largest set, if that is several times what the
// caches hold, because what they hold of it then hardly counts. Nullopt for a level that is a cache.
std::optional<Bytes> set_beyond_caches(const MeasuredSweep& sweep, const LevelWindow& window);

// What a reader should know of a level's plateau: that its ends differ, that SMs shared lines on the set measured.
std::vector<std::string> plateau_remarks(const MeasuredSweep& sweep, const Plateau& plateau, Bytes set, Bytes least);

}  // namespace gambrel::measure_detail
