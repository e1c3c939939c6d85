// What a reader takes out of one file, before anything is linked: compact arrays, strings as numbers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

// Strings stored once, known by their number. 0 is the empty one.
class Strings {
public:
    Strings();
    std::uint32_t id(std::string_view text);
    [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
    [[nodiscard]] std::size_t size() const { return texts_.size(); }

private:
    void grow();
    struct Slot {
        std::uint32_t hash = 0, id = 0;  // id 0: free
    };
    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
    std::vector<std::unique_ptr<char[]>> blocks_;
    std::size_t used_ = 0, room_ = 0;
};

using StringId = std::uint32_t;
inline constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

struct HostEvent {
    enum class Kind : std::uint8_t { op, annotation, module };
    std::int64_t start = 0, end = 0;
    StringId name = 0;
    std::uint32_t thread = 0;
    std::uint32_t arguments = 0;  // of an op: index into Events::arguments; 0: none
    Kind kind = Kind::op;
};
struct Arguments {
    StringId dims = 0, types = 0, strides = 0, values = 0;  // JSON as in the file
    std::int64_t sequence = -1, forward_thread = -1, external = -1;
};
struct LaunchCall {
    std::int64_t start = 0, end = 0;
    std::int64_t correlation = 0;
    std::uint32_t thread = 0;
    StringId name = 0;
};
struct GpuEvent {
    std::int64_t start = 0, duration = 0;
    std::int64_t correlation = kNone, external = -1;
    StringId name = 0;
    Activity::Kind kind = Activity::Kind::kernel;
    bool graph_node = false;
    std::int32_t device = -1, registers = 0;  // device -1: not said
    std::int64_t stream = 0, shared_memory = -1;
    double bytes = -1;
    std::array<std::uint32_t, 3> grid{}, block{};
};

struct Events {
    std::string source;
    Strings strings;
    std::vector<HostEvent> host;
    std::vector<Arguments> arguments{1};
    std::vector<LaunchCall> calls;
    std::vector<GpuEvent> gpu;
    std::unordered_map<std::int32_t, Timeline::Device> devices;  // by the number that GPU events give
    std::optional<std::int64_t> rank;
    bool has_launches = false;  // the profiler recorded the calls that launch
    bool trusts_external_ids = false;
    bool partial = false;
    Errors notes;
};

// With FileBytes::kPadding behind the text, which is parsed in pieces of about a window; half of the second cache of
// most processors is the fastest.
inline constexpr std::size_t kEventWindow = std::size_t{256} << 10;
Result<Events> read_kineto(std::string_view padded, const std::string& source, std::size_t window = kEventWindow);
Result<Events> read_nsys(const std::string& path);
Result<Events> read_nsys(std::string_view bytes, const std::string& source);

bool is_kineto(std::string_view bytes);
// Whether the first bytes of a longer text are those of a Chrome trace whose events stand behind them.
bool is_trace_head(std::string_view head);
bool is_sqlite(std::string_view bytes);

// The events of one file as a timeline of one rank, whose name is empty where the file does not say it.
Timeline linked(Events events);

}  // namespace gambrel::trace_detail
