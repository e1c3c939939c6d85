// Any bytes are a Timeline whose classes add up, or Errors: no crash, no endless loop, no memory without bound.
#include <cstdint>
#include <cstdlib>

#include <gambrel/trace.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with("SQLite")) return 0;  // nsys_fuzz
    const auto timeline = read_timeline(bytes, "fuzz.json");
    if (!timeline) {
        if (timeline.error().empty()) std::abort();
        return 0;
    }
    std::uint64_t all = 0;
    for (const Activity& a : timeline->activities) {
        if (a.duration_ns < 0 || a.device >= timeline->devices.size() || a.rank >= timeline->ranks.size()) std::abort();
        if (a.call >= 0 && static_cast<std::size_t>(a.call) >= timeline->calls.size()) std::abort();
        all += static_cast<std::uint64_t>(a.duration_ns);
    }
    TraceOptions options;
    options.machine = *find_in_catalogue("h100-sxm");
    const auto run = to_run(*timeline, options);
    if (!run) return 0;
    std::uint64_t sum = 0;
    for (const auto& c : run->timeline->classes) sum += c.ns;
    if (sum != all || run->timeline->gpu_ns != all) std::abort();
    return 0;
}
