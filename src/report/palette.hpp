// The colours of charts and terminals: one for each memory level, told apart by people who see red and green alike.
// Hues of Okabe and Ito (2008), darkened on white and lightened on black until each has a contrast of 3:1 or more.
#pragma once

#include <string_view>

#include <gambrel/report.hpp>

namespace gambrel::report_detail {

struct Palette {
    std::string_view background, ink, muted, faint, grid, minor_grid, frame, warning;
    PerLevel<std::string_view> level;  // shared, L1, L2, L3, DRAM
};

constexpr Palette palette(Theme theme) {
    if (theme == Theme::dark)
        return {"#15181d", "#e8eaed", "#a8adb5",
                "#7b828c", "#2c323a", "#20252b",
                "#4a515b", "#f0e442", {{"#e08fbf", "#56b4e9", "#2cc295", "#e6b23c", "#f5833c"}}};
    return {"#ffffff", "#1c2025", "#5a616b",
            "#8b929c", "#e2e5e9", "#f0f2f4",
            "#9aa1ab", "#c00030", {{"#b0558a", "#0072b2", "#008a63", "#a87400", "#d55e00"}}};
}

// SGR parameters of the 256-colour terminal nearest to the hues above.
constexpr std::string_view terminal_color(Level level) {
    switch (level) {
        case Level::shared:
            return "38;5;175";
        case Level::l1:
            return "38;5;39";
        case Level::l2:
            return "38;5;36";
        case Level::l3:
            return "38;5;178";
        case Level::dram:
            return "38;5;208";
    }
    return "";
}
constexpr std::string_view terminal_color(Bound bound) {
    if (const auto* level = std::get_if<Level>(&bound)) return terminal_color(*level);
    return std::holds_alternative<Pipe>(bound) ? "1" : "2";
}

}  // namespace gambrel::report_detail
