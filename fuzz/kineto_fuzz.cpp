// Any bytes are a Timeline whose classes add up, or Errors: no crash, no endless loop, no memory without bound. In
// pieces they are the same events as whole.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gambrel/trace.hpp>

#include "base/file_bytes.hpp"
#include "trace/events.hpp"

using namespace gambrel;

namespace {

void expect_same_in_pieces(std::string_view bytes) {
    std::string text(bytes);
    text.reserve(text.size() + base_detail::FileBytes::kPadding);
    const auto whole = trace_detail::read_kineto(text, "fuzz.json", ~std::size_t{0});
    const auto pieces = trace_detail::read_kineto(text, "fuzz.json", 40);
    if (whole.has_value() != pieces.has_value()) std::abort();
    if (!whole) return;
    const auto same = [](const auto& a, const auto& b) {
        if (a.size() != b.size()) std::abort();
        for (std::size_t i = 0; i < a.size(); ++i)
            if (a[i].start != b[i].start || a[i].name != b[i].name) std::abort();
    };
    same(whole->host, pieces->host), same(whole->calls, pieces->calls), same(whole->gpu, pieces->gpu);
    if (whole->partial != pieces->partial || whole->notes.size() != pieces->notes.size()) std::abort();
    if (whole->devices.size() != pieces->devices.size() || whole->rank != pieces->rank) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with("SQLite")) return 0;  // nsys_fuzz
    if (trace_detail::is_kineto(bytes)) expect_same_in_pieces(bytes);
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
