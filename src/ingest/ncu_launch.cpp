#include "ingest/ncu_launch.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "ingest/ncu_messages.hpp"
#include "ingest/plain_metric.hpp"

namespace gambrel::ingest_detail {

constexpr std::int64_t kLongField = 256;  // bytes; what follows a shorter one is in the host's cache already

// Where a long field ends in one result it ends in the next one, too, or near there: its memory is asked for then, one
// place at a time, as a processor has room for some twenty requests. Inlined, because GCC takes a function that only
// prefetches for one without effect, and leaves out the calls of it.
[[gnu::always_inline]] inline void fetch(std::string_view next, std::size_t at) {
    constexpr std::size_t kLine = 64, kLines = 4;  // by then the hardware follows by itself
    for (const std::size_t end = std::min(next.size(), at + kLines * kLine); at < end; at += kLine)
        __builtin_prefetch(next.data() + at);
}

struct NcuLaunchReader::Draft {
    std::string_view mangled, function, demangled, nvtx, display_name;
    std::string made_name;  // of what has no name of its own: "range 3"
    bool demangled_met = false;
    bool filtered = false;
    std::uint32_t thread = 0;
    WrittenShape shape;
    NcuFacts facts;
    std::vector<Symbol> ranges;
    const KnownName* known = nullptr;  // of the name at the time that metrics begin
    std::string_view known_text;

    // extern "C" and Triton kernels have an empty demangled name.
    [[nodiscard]] std::string_view name() const {
        for (const std::string_view candidate : {demangled, function, mangled})
            if (!candidate.empty()) return candidate;
        return made_name;
    }
};

NcuLaunchReader::NcuLaunchReader(const NcuContainer& container, const ReadRequest& request, DamageLog& damage)
    : request_(request),
      damage_(damage),
      // 2020.3.1 was the first to name itself in the report, and the first to write blocks as GridSize.
      grid_counts_threads_(container.tool_version.empty()),
      values_(request.metrics.size()),
      stamps_(request.metrics.size()) {
    slots_.reserve(container.strings.size());
    for (const std::string_view name : container.strings)
        slots_.push_back({request.metrics.find(name), ncu_fact(name)});
    for (const NcuDevice& device : container.devices) add_device(device);
}

void NcuLaunchReader::add_device(const NcuDevice& device) {
    SessionDevice known;
    known.id = device.id;
    known.name = Symbol(device.name);
    for (const SessionDevice& other : devices_)
        if (other.id == known.id && other.name == known.name) return;  // each process of a run names its devices again
    for (const std::string_view message : device.attributes) {
        try {
            const auto [name, value] = decode_ncu_attribute(message);
            const auto number = number_in(value);
            if (!number) continue;
            if (const NcuFact fact = ncu_fact(name); fact != NcuFact::none) known.facts[fact] = *number;
            if (const MetricId id = request_.metrics.find(name); id != kNoMetric) known.values.push_back({id, *number});
        } catch (const protozero::exception& error) {
            damage_.add(damage_.offset_of(message),
                        fmt::format("a device attribute cannot be decoded ({})", error.what()));
        }
    }
    devices_.push_back(std::move(known));
}

void NcuLaunchReader::read(const NcuItem& item, std::string_view next, Profile& profile) {
    constexpr std::array<std::string_view, kNcuItemKinds> kWords = {"source", "kernel", "range", "cmdlist", "graph"};
    const auto kind = static_cast<std::size_t>(item.kind);
    ++stamp_;
    order_.clear();
    next_ = next;
    Draft draft;
    bool damaged = false;
    try {
        if (item.kind == NcuItemKind::kernel)
            read_kernel(item.bytes, draft);
        else
            read_range(item, draft);
        if (!draft.filtered) draft.ranges = decode_nvtx_ranges(draft.nvtx, draft.thread);
    } catch (const protozero::exception& error) {
        damaged = true;
        damage_.lose(damage_.offset_of(item.bytes),
                     fmt::format("this result cannot be decoded ({}); its values are left out", error.what()));
    }
    if (draft.name().empty()) draft.made_name = fmt::format("{} {}", kWords[kind], met_[kind]);
    ++met_[kind];
    const std::string_view text = draft.name();
    const bool known = text.data() == draft.known_text.data() && text.size() == draft.known_text.size();
    const KnownName& name = known ? *draft.known : known_name(text);
    if (!name.keep) {
        ++profile.filtered_launches;
        return;
    }
    Launch launch;
    launch.name = name.symbol;
    if (damaged)
        launch.faults.emplace_back("damaged in the report: no values");
    else
        finish(draft, launch, profile);
    profile.launches.push_back(std::move(launch));
}

void NcuLaunchReader::read_kernel(std::string_view bytes, Draft& draft) {
    auto reader = reader_of(bytes);
    fetch(next_, 0);
    const char* before = bytes.data();
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case bytes_field(13):
                read_metric(view_of(reader), draft);
                reader = reader_of(after_plain_metrics(bytes, rest_of(reader), draft));
                break;
            case varint_field(1):
                draft.thread = reader.get_uint32();
                break;
            case bytes_field(5):
                draft.mangled = view_of(reader);
                break;
            case bytes_field(6):
                draft.function = view_of(reader);
                break;
            case bytes_field(7):
                draft.demangled = view_of(reader);
                draft.demangled_met = true;
                break;
            case bytes_field(10):
                draft.shape.grid = decode_dim3(view_of(reader));
                break;
            case bytes_field(11):
                draft.shape.block = decode_dim3(view_of(reader));
                // ncu writes fields in order: the name is known before the first metric. If not, read() finds out.
                if (!draft.demangled_met || draft.name().empty()) break;
                draft.known_text = draft.name();
                draft.known = &known_name(draft.known_text);
                draft.filtered = !draft.known->keep;
                if (draft.filtered) return;
                break;
            case bytes_field(21):
                draft.nvtx = view_of(reader);
                break;
            default:
                reader.skip();
        }
        const char* const here = reader.data().data();
        if (here - before > kLongField) fetch(next_, static_cast<std::size_t>(here - bytes.data()));
        before = here;
    }
}

// RangeResult, CmdlistResult, GraphResult: from NVIDIA's message definitions only, no such file has been seen.
void NcuLaunchReader::read_range(const NcuItem& item, Draft& draft) {
    auto reader = reader_of(item.bytes);
    while (reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1):
                draft.thread = reader.get_uint32();
                break;
            case bytes_field(4):
                read_metric(view_of(reader), draft);
                break;
            case bytes_field(10):
                draft.nvtx = view_of(reader);
                break;
            case bytes_field(18):
                if (const std::string_view name = view_of(reader); item.kind == NcuItemKind::cmdlist)
                    draft.demangled = name;
                break;
            default:
                reader.skip();
        }
    }
}

// A result is a few hundred metrics in a row, of which the rules want one in six: the others are passed over by their
// length and NameId alone, and a wanted one that holds a plain number is read in place. Stops at whatever is not
// plainly either, which the caller then reads.
std::string_view NcuLaunchReader::after_plain_metrics(std::string_view result, std::string_view rest, Draft& draft) {
    constexpr std::uint32_t kMetric = bytes_field(13), kName = varint_field(1);
    static_assert(kMetric < 0x80 && kName < 0x80, "both tags are of one byte");
    // Tag, length and NameId with its own tag take eight bytes at most, where both numbers have three or fewer.
    constexpr std::size_t kHead = 8;
    const auto* at = reinterpret_cast<const unsigned char*>(rest.data());
    const auto* const end = at + rest.size();
    while (static_cast<std::size_t>(end - at) >= kHead && at[0] == kMetric) {
        const ShortNumber length = short_number(at + 1);
        const unsigned char* const body = at + 1 + length.size;
        const auto left = static_cast<std::size_t>(end - body);
        if (length.size == 0 || length.value > left || body[0] != kName) break;
        const ShortNumber id = short_number(body + 1);
        if (id.size == 0 || 1 + id.size > length.value || id.value >= slots_.size()) break;
        if (const Slot& slot = slots_[id.value]; slot.wanted()) {
            const auto number = plain_number(body + 1 + id.size, length.value - 1 - id.size);
            if (!number) break;
            take(slot, *number, draft);
        }
        at = body + length.value;
        if (static_cast<std::int64_t>(length.value) > kLongField)
            fetch(next_, static_cast<std::size_t>(reinterpret_cast<const char*>(at) - result.data()));
    }
    return rest.substr(rest.size() - static_cast<std::size_t>(end - at));
}

void NcuLaunchReader::read_metric(std::string_view bytes, Draft& draft) {
    auto reader = reader_of(bytes);
    std::optional<Slot> slot;
    std::optional<std::string_view> message;
    // Ends with both: what follows are the instances, most of the bytes of a report and no part of the value.
    while (!(slot && message) && reader.next()) {
        switch (reader.tag_and_type()) {
            case varint_field(1): {
                const std::uint64_t id = reader.get_uint64();
                if (id >= slots_.size()) {
                    ++nameless_;
                    return;
                }
                slot = slots_[id];
                if (!slot->wanted()) return;
                break;
            }
            case bytes_field(2):
                message = view_of(reader);
                break;
            default:
                reader.skip();
        }
    }
    if (!slot || !message) return;
    const NcuValue value = decode_ncu_value(*message);
    if (slot->fact == NcuFact::display_name && value.kind == NcuValue::Kind::text) {
        draft.display_name = value.text;
        return;
    }
    const auto number = number_in(value);
    if (!number) return;
    take(*slot, *number, draft);
}

void NcuLaunchReader::take(const Slot& slot, double number, Draft& draft) {
    if (slot.fact != NcuFact::none && slot.fact != NcuFact::display_name) draft.facts[slot.fact] = number;
    if (slot.metric != kNoMetric) set_value(slot.metric, number);
}

// The last of several values wins, as in NVIDIA's own readers: full-set reports of GH200 and GB300 hold the time twice.
void NcuLaunchReader::set_value(MetricId metric, double value) {
    values_[metric] = value;
    if (stamps_[metric] == stamp_) return;
    stamps_[metric] = stamp_;
    order_.push_back(metric);
}

const NcuLaunchReader::KnownName& NcuLaunchReader::known_name(std::string_view name) {
    if (const auto it = names_.find(name); it != names_.end()) return it->second;
    const Symbol symbol(name);
    const bool keep = !request_.keep || request_.keep(symbol.str());
    // Keyed by the symbol's text, which outlives a made-up name.
    return names_.emplace(symbol.str(), KnownName{symbol, keep}).first->second;
}

const NcuLaunchReader::SessionDevice* NcuLaunchReader::device_of(const Draft& draft) const {
    for (const SessionDevice& device : devices_)
        if (static_cast<double>(device.id) == draft.facts[NcuFact::device_id]) return &device;
    // With several devices and no word which one, a guess would put a kernel under the roof of another GPU.
    return devices_.size() == 1 ? &devices_.front() : nullptr;
}

void NcuLaunchReader::finish(const Draft& draft, Launch& launch, Profile& profile) {
    const SessionDevice* device = device_of(draft);
    if (!draft.display_name.empty())
        launch.device = Symbol(draft.display_name);
    else if (device != nullptr)
        launch.device = device->name;
    launch.cc = capability(draft.facts);
    if (!launch.cc && device != nullptr) launch.cc = capability(device->facts);
    WrittenShape written = draft.shape;
    written.grid_counts_threads = grid_counts_threads_;
    launch.shape = launch_shape(written, draft.facts);
    launch.nvtx = draft.ranges;
    // What the session says of the device holds for the launch, where its own result is silent.
    if (device != nullptr)
        for (const MetricValue& of_device : device->values)
            if (stamps_[of_device.metric] != stamp_) set_value(of_device.metric, of_device.value);
    for (const MetricId id : order_) add_value(profile, launch, request_.metrics, id, values_[id]);
}

}  // namespace gambrel::ingest_detail
