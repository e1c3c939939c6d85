// The reader of Nsight Compute reports, from the container (ncu_container.hpp) over messages (ncu_messages.hpp) to
// launches (ncu_launch.hpp). No NVIDIA library is needed.

#include <algorithm>

#include <fmt/format.h>

#include "base/huge_pages.hpp"
#include "ingest/ncu_container.hpp"
#include "ingest/ncu_launch.hpp"
#include "ingest/readers.hpp"

namespace gambrel::ingest_detail {
namespace {

constexpr std::string_view kMagic{"NVR\0", 4};

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace

bool is_ncu_report(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<Profile> read_ncu_report(std::string_view bytes, const ReadRequest& request) {
    if (!is_ncu_report(bytes))
        return failure(request.source, "byte 0: not an Nsight Compute report, expected \"NVR\" and a zero");
    // The file header after the magic holds a version that is 7 since 2019 and tells nothing, so it is skipped unread.
    if (bytes.size() < 8 || bytes.size() - 8 < little_endian(bytes.substr(4)))
        return failure(fmt::format("{}: byte 4", request.source),
                       fmt::format("the report ends inside its file header, after {} bytes", bytes.size()));
    DamageLog damage(request.source, bytes);
    // Headers first: a result may use metric names that only a later block brings.
    const NcuContainer container = walk_ncu_container(bytes, 8 + little_endian(bytes.substr(4)), damage);

    Profile profile;
    profile.source = request.source;
    profile.tool = "ncu";
    profile.tool_version = container.tool_version.substr(0, container.tool_version.find(' '));
    profile.command_line = container.command_line;
    NcuLaunchReader reader(container, request, damage);
    base_detail::reserve_in_huge_pages(profile.launches, container.results.size());
    for (std::size_t i = 0; i < container.results.size(); ++i) {
        const bool last = i + 1 == container.results.size();
        reader.read(container.results[i], last ? std::string_view() : container.results[i + 1].bytes, profile);
        // Launches of a report have about the same metrics. A vector that grows by doubling would be copied into fresh
        // pages again and again. No file has more values than its bytes can hold.
        constexpr std::size_t kShortestMetric = 8;
        if (profile.launches.size() == 1)
            base_detail::reserve_in_huge_pages(
                profile.values,
                std::min(profile.values.size() * container.results.size(), bytes.size() / kShortestMetric));
    }
    profile.partial = damage.lost() || reader.nameless() > 0;
    profile.notes = std::move(damage).notes();
    if (reader.nameless() > 0)
        profile.notes.push_back(
            {request.source, fmt::format("{} metric values have names beyond the {} that the file holds; left out",
                                         reader.nameless(), container.strings.size())});
    return profile;
}

}  // namespace gambrel::ingest_detail
