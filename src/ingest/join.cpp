#include "ingest/join.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ingest/launch_pairs.hpp"

namespace gambrel::ingest_detail {

namespace {

using Group = std::vector<std::size_t>;  // indices of profiles, in the order given

std::string folder_of(const Profile& profile) {
    return std::filesystem::path(profile.source).lexically_normal().parent_path().string();
}
std::string file_of(const Profile& profile) { return std::filesystem::path(profile.source).filename().string(); }

std::unordered_set<MetricId> metrics_of(const Profile& profile) {
    std::unordered_set<MetricId> metrics;
    for (const MetricValue& value : profile.values) metrics.insert(value.metric);
    return metrics;
}

bool is_summary(const Profile& profile) {
    std::unordered_set<Symbol> names;
    bool names_once = true;
    for (const Launch& launch : profile.launches) {
        if (launch.launches > 1) return true;
        names_once = names.insert(launch.name).second && names_once;
    }
    // A summary of kernels that each ran once looks like a trace. Its order is by time or by name, so it must not
    // matter.
    return profile.tool == "nvprof" && names_once;
}

// Members that share no metric with any other member, or share them as pages of one report do. Those that do are runs
// to compare: which half of such a pair a third file belongs to cannot be known, but a file that overlaps with none may
// still join its like.
Group without_overlap(const std::vector<Profile>& profiles, const Group& members, Errors& notes) {
    std::unordered_map<MetricId, std::size_t> owner;
    std::vector<bool> overlaps(profiles.size(), false);
    std::size_t first = 0, second = 0, pairs = 0;
    for (const std::size_t member : members) {
        for (const MetricId metric : metrics_of(profiles[member])) {
            const auto [it, is_new] = owner.emplace(metric, member);
            if (is_new || overlaps[member] || same_run(profiles[it->second], profiles[member])) continue;
            if (pairs++ == 0) first = it->second, second = member;
            overlaps[member] = overlaps[it->second] = true;
        }
    }
    Group apart;
    for (const std::size_t member : members) {
        if (!overlaps[member]) apart.push_back(member);
    }
    if (pairs > 0 && !apart.empty()) {
        notes.push_back(
            {folder_of(profiles[first]),
             fmt::format("{} and {} hold the same metrics: taken as two runs, not joined with the other files",
                         file_of(profiles[first]), file_of(profiles[second]))});
    }
    return apart;
}

std::string launch_text(const Profile& profile, std::size_t i, bool in_full) {
    if (i >= profile.launches.size()) return fmt::format("no launch {} ({} in all)", i, profile.launches.size());
    const Launch& launch = profile.launches[i];
    std::string text = fmt::format("\"{}\"", in_full ? launch.name.str() : short_name(launch.name.str(), 60));
    if (launch.shape) {
        const auto& [grid, block] = *launch.shape;
        text += fmt::format(" grid {}x{}x{} block {}x{}x{}", grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    }
    return text;
}

void take_launch(Profile& to, Launch& launch, const Profile& from, const Launch& other) {
    if (!launch.shape) launch.shape = other.shape;
    if (!launch.cc) launch.cc = other.cc;
    if (launch.device.empty()) launch.device = other.device;
    if (launch.nvtx.empty()) launch.nvtx = other.nvtx;
    launch.faults.insert(launch.faults.end(), other.faults.begin(), other.faults.end());
    const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>(other.first_value);
    to.values.insert(to.values.end(), begin, begin + static_cast<std::ptrdiff_t>(other.values));
    launch.values += other.values;
}

// A profile with the head of `first` and no launches yet.
Profile head_of(std::vector<Profile>& profiles, const Group& group) {
    const Profile& first = profiles[group.front()];
    Profile result;
    result.source = fmt::format("{} (+{} files)", first.source, group.size() - 1);
    result.tool = first.tool;
    result.tool_version = first.tool_version;
    result.command_line = first.command_line;
    std::size_t values = 0;
    for (const std::size_t member : group) {
        Profile& profile = profiles[member];
        values += profile.values.size();
        result.partial |= profile.partial;
        result.filtered_launches = std::max(result.filtered_launches, profile.filtered_launches);
        std::move(profile.notes.begin(), profile.notes.end(), std::back_inserter(result.notes));
    }
    result.values.reserve(values);
    return result;
}

Launch begin_launch(Profile& to, const Launch& like) {
    Launch launch;
    launch.name = like.name;
    launch.launches = like.launches;
    launch.first_value = to.values.size();
    return launch;
}

std::string difference_text(const Profile& here, const Profile& there) {
    const std::size_t i = first_difference(there, here);
    // Templates that differ far inside look the same when shortened.
    const bool in_full = launch_text(here, i, false) == launch_text(there, i, false);
    return fmt::format("launch {} is {} here and {} in {}", i, launch_text(here, i, in_full),
                       launch_text(there, i, in_full), file_of(there));
}

struct Member {
    std::size_t profile = 0;
    std::vector<std::size_t> pairs;  // empty: launch i is launch i of the first member
};
using Sequence = std::vector<Member>;

Profile join_launches(std::vector<Profile>& profiles, const Sequence& sequence, Errors& notes) {
    Group group;
    for (const Member& member : sequence) group.push_back(member.profile);
    Profile result = head_of(profiles, group);
    const std::size_t launches = profiles[group.front()].launches.size();
    result.launches.reserve(launches);
    for (std::size_t i = 0; i < launches; ++i) {
        Launch launch = begin_launch(result, profiles[group.front()].launches[i]);
        for (const Member& member : sequence) {
            const Profile& from = profiles[member.profile];
            take_launch(result, launch, from, from.launches[member.pairs.empty() ? i : member.pairs[i]]);
        }
        result.launches.push_back(std::move(launch));
    }
    std::string how = fmt::format("{} files joined launch by launch, {} launches", group.size(), launches);
    const auto reordered = [](const Member& member) { return !member.pairs.empty(); };
    const auto count = std::count_if(sequence.begin(), sequence.end(), reordered);
    if (count > 0) {
        const Profile& other = profiles[std::find_if(sequence.begin(), sequence.end(), reordered)->profile];
        how += fmt::format(
            "; {} of them launch the same kernels in another order, so trust sums over a kernel, not single "
            "launches: in {} {}",
            count, file_of(other), difference_text(other, profiles[group.front()]));
    }
    notes.push_back({folder_of(profiles[group.front()]), std::move(how)});
    return result;
}

// Per kernel of the joined summary, the launch of each member that has it.
using Sources = std::vector<std::pair<std::size_t, const Launch*>>;

std::vector<Sources> matched_by_name(const std::vector<Profile>& profiles, const Group& group) {
    std::vector<Sources> kernels;
    std::unordered_map<Symbol, std::vector<std::size_t>> by_name;
    for (const std::size_t member : group) {
        for (const Launch& launch : profiles[member].launches) {
            std::vector<std::size_t>& candidates = by_name[launch.name];
            const auto fits = [&](std::size_t k) {
                return kernels[k].back().first != member &&
                       std::all_of(kernels[k].begin(), kernels[k].end(),
                                   [&](const auto& s) { return same_kernel(*s.second, launch); });
            };
            const auto it = std::find_if(candidates.begin(), candidates.end(), fits);
            if (it != candidates.end()) {
                kernels[*it].emplace_back(member, &launch);
            } else {
                candidates.push_back(kernels.size());
                kernels.push_back({{member, &launch}});
            }
        }
    }
    return kernels;
}

Profile join_summaries(std::vector<Profile>& profiles, const Group& group, Errors& notes) {
    const std::vector<Sources> kernels = matched_by_name(profiles, group);
    Profile result = head_of(profiles, group);
    for (const Sources& sources : kernels) {
        Launch launch = begin_launch(result, *sources.front().second);
        for (const auto& [member, other] : sources) {
            if (other->launches != launch.launches) {
                result.notes.push_back(
                    {profiles[member].source, fmt::format("\"{}\": average over {} launches, joined with one over {}",
                                                          launch.name.str(), other->launches, launch.launches)});
            }
            take_launch(result, launch, profiles[member], *other);
        }
        result.launches.push_back(std::move(launch));
    }
    notes.push_back({folder_of(profiles[group.front()]),
                     fmt::format("{} summaries joined by kernel name, {} kernels", group.size(), kernels.size())});
    return result;
}

// Runs of one program may order their launches differently (TensorFlow's executor does), yet launch the same kernels as
// often. The n-th launch of a kernel is then paired with the n-th: sums over a kernel hold, single launches need not.
bool join_sequence(const std::vector<Profile>& profiles, Sequence& sequence, std::size_t member) {
    const Profile& like = profiles[sequence.front().profile];
    const Profile& other = profiles[member];
    const bool same =
        like.launches.size() == other.launches.size() && first_difference(like, other) == like.launches.size();
    std::vector<std::size_t> pairs;
    if (!same) {
        pairs = paired_by_occurrence(like, other);
        if (pairs.empty()) return false;
    }
    sequence.push_back({member, std::move(pairs)});
    return true;
}

std::vector<Sequence> by_sequence(const std::vector<Profile>& profiles, const Group& members, Errors& notes) {
    std::vector<Sequence> sequences;
    for (const std::size_t member : members) {
        // Few are tried, so that a folder of many unlike files costs no square of its size.
        const auto tried = sequences.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(sequences.size(), 8));
        const auto fits = [&](Sequence& sequence) { return join_sequence(profiles, sequence, member); };
        if (std::find_if(sequences.begin(), tried, fits) != tried) continue;
        if (!sequences.empty()) {
            const Profile& like = profiles[sequences.front().front().profile];
            notes.push_back({profiles[member].source, "not joined: " + difference_text(profiles[member], like)});
        }
        sequences.push_back({Member{member, {}}});
    }
    return sequences;
}

}  // namespace

std::vector<Profile> joined(std::vector<Profile> profiles, Errors& notes) {
    std::map<std::pair<std::string, std::string>, Group> folders;
    for (std::size_t i = 0; i < profiles.size(); ++i) folders[{folder_of(profiles[i]), profiles[i].tool}].push_back(i);

    std::vector<std::optional<Profile>> result(profiles.size());
    std::vector<bool> taken(profiles.size(), false);
    const auto put = [&](const Group& group, Profile profile, const std::string& folder, const Group& members) {
        if (group.size() == members.size() && !folder.empty()) profile.source = folder;
        for (const std::size_t member : group) taken[member] = true;
        result[group.front()] = std::move(profile);  // stands where its first file stood
    };
    for (const auto& [key, members] : folders) {
        const std::string& folder = key.first;
        if (members.size() < 2) continue;
        Group summaries, traces;
        for (const std::size_t member : without_overlap(profiles, members, notes)) {
            if (profiles[member].launches.empty()) continue;
            (is_summary(profiles[member]) ? summaries : traces).push_back(member);
        }
        if (summaries.size() > 1) put(summaries, join_summaries(profiles, summaries, notes), folder, members);
        for (const Sequence& sequence : by_sequence(profiles, traces, notes)) {
            if (sequence.size() < 2) continue;
            Group group;
            for (const Member& member : sequence) group.push_back(member.profile);
            put(group, join_launches(profiles, sequence, notes), folder, members);
        }
    }
    std::vector<Profile> out;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        if (result[i])
            out.push_back(std::move(*result[i]));
        else if (!taken[i])
            out.push_back(std::move(profiles[i]));
    }
    return out;
}

}  // namespace gambrel::ingest_detail
