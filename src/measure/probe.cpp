#include <array>

#include <fmt/format.h>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

std::string_view name(Action action) {
    constexpr std::array<std::string_view, 13> kNames{
        "empty", "fma",   "add",   "multiply",       "mma",           "gemm", "load", "store",
        "copy",  "triad", "chase", "host_to_device", "device_to_host"};
    return kNames.at(static_cast<std::size_t>(action));
}

std::string matrix_way(const Probe& probe) {
    if (probe.action == Action::gemm) return "GEMM by library";
    constexpr std::array<std::string_view, 5> kPaths{"", "mma", "wgmma", "tcgen05", "library"};
    return probe.action == Action::mma ? std::string(kPaths.at(static_cast<std::size_t>(probe.matrix))) : "";
}

namespace {

std::string arithmetic_title(const Probe& probe) {
    switch (probe.action) {
        case Action::fma:
            return fmt::format("{} FMA", gambrel::title(probe.pipe));
        case Action::add:
            return fmt::format("{} add", gambrel::title(probe.pipe));
        case Action::multiply:
            return fmt::format("{} multiply", gambrel::title(probe.pipe));
        case Action::gemm:
            return fmt::format("{} {}, n = {}", gambrel::title(probe.pipe), matrix_way(probe), probe.extent);
        default:
            break;
    }
    const std::string way = matrix_way(probe);
    return std::string(gambrel::title(probe.pipe)) + (way.empty() ? "" : ", " + way);
}

std::string plain_title(const Probe& probe) {
    switch (probe.action) {
        case Action::empty:
            return "launch overhead";
        case Action::host_to_device:
            return "host to device";
        case Action::device_to_host:
            return "device to host";
        case Action::load:
        case Action::store:
        case Action::copy:
        case Action::triad:
        case Action::chase: {
            const std::string_view what = probe.action == Action::chase ? "latency" : name(probe.action);
            return probe.level ? fmt::format("{} {}", gambrel::name(*probe.level), what)
                               : fmt::format("memory {}", what);
        }
        default:
            return arithmetic_title(probe);
    }
}

}  // namespace

std::string title(const Probe& probe) {
    std::string text = plain_title(probe);
    if (probe.action == Action::load && probe.spread == Spread::whole) text += ", all the same set";
    if (probe.action == Action::load && probe.spread == Spread::split) text += ", one set divided";
    if (probe.units == 1 && probe.action != Action::chase) text += ", one core";
    return text;
}

}  // namespace gambrel::measure_detail
