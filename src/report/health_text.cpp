#include <algorithm>

#include <gambrel/report.hpp>

#include "chart/text.hpp"

namespace gambrel {

using namespace chart_detail;

std::string health_text(const std::vector<HealthCheck>& checks, const TextStyle& wanted) {
    const int width = std::clamp(wanted.width, 40, 250);
    const bool ascii = !wanted.unicode;
    std::string out;
    const auto lines = [&](const std::string& text, const char* color) {
        for (auto& line : wrapped(printable(text, ascii), width - 10))
            out += std::string(10, ' ') + painted(std::move(line), color, wanted.color) + "\n";
    };
    for (const HealthCheck& f : checks) {
        const bool good = f.health == Health::good;
        const std::string word = good ? "ok" : f.health == Health::poor ? "poor" : "missing";
        out += painted(aligned(word, 8, false),
                       good                       ? "good"
                       : f.health == Health::poor ? "notice"
                                                  : "bad",
                       wanted.color) +
               "  ";
        const auto head = wrapped(printable(f.what + ": " + f.found, ascii), width - 10, 2);
        for (std::size_t i = 0; i < head.size(); ++i) out += (i > 0 ? std::string(10, ' ') : "") + head[i] + "\n";
        if (!f.follows.empty()) lines(f.follows, "2");
        if (!f.fix.empty()) lines("> " + f.fix, "1");
    }
    return out;
}

}  // namespace gambrel
