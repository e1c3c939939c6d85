#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "measure/device.hpp"

namespace gambrel {
namespace {

constexpr std::array<std::string_view, 13> kActions{
    "empty", "fma",   "add",   "multiply",       "mma",           "gemm", "load", "store",
    "copy",  "triad", "chase", "host_to_device", "device_to_host"};
constexpr std::array<std::string_view, 4> kKinds{"host", "cuda", "opencl", "simulated"};

template <class Enum, std::size_t N>
std::optional<Enum> position_of(std::string_view name, const std::array<std::string_view, N>& names) {
    const auto it = std::find(names.begin(), names.end(), name);
    return it == names.end() ? std::nullopt : std::optional(static_cast<Enum>(it - names.begin()));
}

}  // namespace

std::string_view name(ProbeAction action) { return kActions.at(static_cast<std::size_t>(action)); }
std::string_view name(DeviceKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }
std::optional<ProbeAction> probe_action_from(std::string_view name) { return position_of<ProbeAction>(name, kActions); }
std::optional<DeviceKind> device_kind_from(std::string_view name) { return position_of<DeviceKind>(name, kKinds); }

}  // namespace gambrel

namespace gambrel::measure_detail {

std::string matrix_way(const Probe& probe) {
    constexpr std::array<std::string_view, 6> kVariants{"",        " m16n8k4", " m16n8k16",
                                                        " K = 96", " NVFP4",   " with fast accumulation"};
    const std::string_view variant = kVariants.at(static_cast<std::size_t>(probe.variant));
    if (probe.action == ProbeAction::gemm) return fmt::format("GEMM by library{}", variant);
    constexpr std::array<std::string_view, 5> kPaths{"", "mma", "wgmma", "tcgen05", "library"};
    if (probe.action != ProbeAction::mma) return "";
    return fmt::format("{}{}{}", kPaths.at(static_cast<std::size_t>(probe.matrix)), variant,
                       probe.random ? ", random operands" : "");
}

namespace {

std::string arithmetic_title(const Probe& probe) {
    switch (probe.action) {
        case ProbeAction::fma:
            return fmt::format("{} FMA", gambrel::title(probe.pipe));
        case ProbeAction::add:
            return fmt::format("{} add", gambrel::title(probe.pipe));
        case ProbeAction::multiply:
            return fmt::format("{} multiply", gambrel::title(probe.pipe));
        case ProbeAction::gemm:
            return fmt::format("{} {}, n = {}", gambrel::title(probe.pipe), matrix_way(probe), probe.extent);
        default:
            break;
    }
    const std::string way = matrix_way(probe);
    return std::string(gambrel::title(probe.pipe)) + (way.empty() ? "" : ", " + way);
}

std::string plain_title(const Probe& probe) {
    switch (probe.action) {
        case ProbeAction::empty:
            return "launch overhead";
        case ProbeAction::host_to_device:
            return "host to device";
        case ProbeAction::device_to_host:
            return "device to host";
        case ProbeAction::load:
        case ProbeAction::store:
        case ProbeAction::copy:
        case ProbeAction::triad:
        case ProbeAction::chase: {
            const std::string_view what = probe.action == ProbeAction::chase ? "latency" : name(probe.action);
            return probe.level ? fmt::format("{} {}", gambrel::name(*probe.level), what)
                               : fmt::format("memory {}", what);
        }
        default:
            return arithmetic_title(probe);
    }
}

}  // namespace

std::string one_line(const Errors& errors) {
    std::string text;
    for (const char c : to_text(errors))
        if (c != '\n')
            text += c;
        else if (!text.empty() && !text.ends_with("; "))
            text += "; ";
    while (text.ends_with("; ")) text.resize(text.size() - 2);
    return text;
}

std::string title(const Probe& probe) {
    std::string text = plain_title(probe);
    if (probe.action == ProbeAction::load && probe.sharing == WorkingSetSharing::whole) text += ", all the same set";
    if (probe.action == ProbeAction::load && probe.sharing == WorkingSetSharing::split) text += ", one set divided";
    if (probe.units == 1 && probe.action != ProbeAction::chase) text += ", one core";
    return text;
}

}  // namespace gambrel::measure_detail
