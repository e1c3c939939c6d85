// --vary, --limit, cost tables and checkpoints: whatever the text, an answer or Errors; what is read can be used.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <gambrel/explore.hpp>

#include "explore/search.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gambrel;
    if (size < 1) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    static const Machine& machine = *find_in_catalogue("titan-xp");
    static const ModelInputs numbers = *model_inputs(machine);
    switch (data[0] % 4) {
        case 0:
            if (const auto space = parse_space(text, machine, numbers)) {
                for (const std::uint64_t i : {std::uint64_t{0}, space->size() / 2, space->size() - 1})
                    for (const double f : space->at(i))
                        if (!(f > 0) || !std::isfinite(f)) std::abort();
            }
            break;
        case 1:
            if (const auto limits = parse_limits(text, machine, numbers))
                for (const Limit& limit : *limits) static_cast<void>(limit.holds({}, 1, 1, 1));
            break;
        case 2:
            if (const auto costs = parse_costs(text, "fuzz"))
                if (std::fabs((*costs)({}) - 1) > 1e-5) std::abort();
            break;
        default:
            if (const auto checkpoint = checkpoint_from(text, "fuzz")) {
                const auto again = checkpoint_from(to_text(*checkpoint), "fuzz");
                if (!again || to_text(*again) != to_text(*checkpoint)) std::abort();
            }
    }
    return 0;
}
