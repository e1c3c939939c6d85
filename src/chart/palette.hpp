// The colours of charts and terminals: one for each memory level, which people who confuse red and green can tell
// apart. Hues of Okabe and Ito (2008), darkened on white and lightened on black until each has a contrast of 3:1 or
// more; what an SM does itself is grey to yellow.
#pragma once

#include <array>
#include <string_view>

#include <gambrel/chart.hpp>

namespace gambrel::chart_detail {

// A colour that belongs to a name. `terminal` is an SGR parameter of the 256-colour terminal nearest to the hue.
struct NamedColor {
    std::string_view name, light, dark, terminal;
};
inline constexpr std::array<NamedColor, 14> kNamedColors{{{"shared", "#b0558a", "#e08fbf", "38;5;175"},
                                                          {"L1", "#0072b2", "#56b4e9", "38;5;39"},
                                                          {"L2", "#008a63", "#2cc295", "38;5;36"},
                                                          {"L3", "#a87400", "#e6b23c", "38;5;178"},
                                                          {"DRAM", "#d55e00", "#f5833c", "38;5;208"},
                                                          {"compute", "#4a515b", "#c3c8cf", "1"},
                                                          {"issue", "#8b929c", "#8b929c", "38;5;245"},
                                                          {"latency", "#d3b000", "#f0e442", "38;5;220"},
                                                          {"launch", "#d5d9de", "#4a515b", "2"},
                                                          {"strong", "#1c2025", "#e8eaed", "1"},
                                                          {"faint", "#8b929c", "#7b828c", "2"},
                                                          {"good", "#008a63", "#2cc295", "32"},
                                                          {"bad", "#c00030", "#f0e442", "31"},
                                                          {"notice", "#a87400", "#e6b23c", "33"}}};
// For what has no name in the table above; the page has the same (web/bounds.ts).
inline constexpr std::array<NamedColor, 7> kHues{{{"", "#0072b2", "#56b4e9", "38;5;39"},
                                                  {"", "#d55e00", "#f5833c", "38;5;208"},
                                                  {"", "#008a63", "#2cc295", "38;5;36"},
                                                  {"", "#b0558a", "#e08fbf", "38;5;175"},
                                                  {"", "#a87400", "#e6b23c", "38;5;178"},
                                                  {"", "#5b3fa8", "#b39ddb", "38;5;104"},
                                                  {"", "#37685f", "#8fc7bb", "38;5;66"}}};

// `otherwise`: which of the hues, counted round, if the name has no colour of its own.
constexpr const NamedColor& color_of(std::string_view name, std::size_t otherwise = 0) {
    for (const NamedColor& c : kNamedColors)
        if (c.name == name) return c;
    return kHues[otherwise % kHues.size()];
}
constexpr std::string_view terminal_color(std::string_view name) {
    return name.empty() ? std::string_view{} : color_of(name).terminal;
}

struct Palette {
    Theme theme = Theme::light;
    std::string_view background, ink, muted, faint, grid, minor_grid, frame, warning;
    [[nodiscard]] constexpr std::string_view of(const NamedColor& c) const {
        return theme == Theme::dark ? c.dark : c.light;
    }
    [[nodiscard]] constexpr std::string_view operator[](std::string_view name) const { return of(color_of(name)); }
};

constexpr Palette palette(Theme theme) {
    if (theme == Theme::dark)
        return {theme, "#15181d", "#e8eaed", "#a8adb5", "#7b828c", "#2c323a", "#20252b", "#4a515b", "#f0e442"};
    return {theme, "#ffffff", "#1c2025", "#5a616b", "#8b929c", "#e2e5e9", "#f0f2f4", "#9aa1ab", "#c00030"};
}

}  // namespace gambrel::chart_detail
