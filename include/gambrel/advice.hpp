// What to change, by the rules of data/advice: each rule has a condition over the facts of an Analysis, what it expects
// to save, and the counters that it rests on. Pure. Advice is about what was analysed; it promises nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gambrel/roofline.hpp>

namespace gambrel {

struct Advice {
    std::string rule;                   // the id of the rule
    std::string text;                   // what to do, in a sentence
    std::string evidence;               // what was seen
    std::vector<std::string> rests_on;  // counters and facts
    std::vector<std::size_t> rows;      // of the analysis, by falling gain; empty: the whole
    Seconds gain;                       // of the whole
    double step_speedup = 1;            // whole / (whole - gain)
    bool at_most = false;               // the gain is a bound, not an estimate
};

// By falling gain. A rule whose facts are unknown does not apply.
std::vector<Advice> advice(const Analysis& analysis);

}  // namespace gambrel
