// Any bytes behind the header of SQLite are a Timeline or Errors: no crash, no endless loop, no memory without bound.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gambrel/trace.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (!bytes.starts_with(std::string_view("SQLite format 3\0", 16))) return 0;
    const auto timeline = read_timeline(bytes, "fuzz.sqlite");
    if (!timeline && timeline.error().empty()) std::abort();
    if (timeline)
        for (const Activity& a : timeline->activities)
            if (a.duration_ns < 0 || a.device >= timeline->devices.size()) std::abort();
    return 0;
}
