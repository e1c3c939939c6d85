#include <algorithm>

#include <fmt/format.h>

#include <gambrel/report.hpp>

#include "chart/text.hpp"

namespace gambrel {

using namespace chart_detail;

std::string ert_text(const ErtImport& in, const std::vector<Plateau>& plateaus, const TextStyle& wanted) {
    TextStyle style = wanted;
    style.width = std::clamp(style.width, 40, 250);
    const bool ascii = !style.unicode;
    std::string out;
    for (auto& line : wrapped(printable("Empirical Roofline Toolkit, " + in.leaf, ascii), style.width))
        out += line + "\n";
    Table table({{"by ERT's rule", false, 100, 12}, {"", true, 90}});
    for (const auto& [name, value] : in.roofline.gflops)
        table.add({{printable(name, ascii), to_text(FlopRate{value * 1e9}, 4)}, "", {}});
    for (const auto& [name, value] : in.roofline.gbytes)
        table.add({{printable(name, ascii), to_text(Bandwidth{value * 1e9}, 4)}, "", {}});
    out += "\n" + terminal_text(table, style);
    if (plateaus.empty()) return out;
    Table ours({{"plateaus that gambrel sees", false, 100, 12},
                {"", true, 95},
                {"from", true, 80},
                {"to", true, 80},
                {"points", true, 50}});
    for (const Plateau& p : plateaus)
        ours.add({{"", to_text(Bandwidth{p.value}, 4), to_text(p.from, 3), to_text(p.to, 3), std::to_string(p.points)},
                  "",
                  {}});
    out += "\n" + terminal_text(ours, style);
    return out;
}

}  // namespace gambrel
