// One result as one whole page, as every command that takes `-o page.html` writes it. Pages of several results are made
// of views: report.hpp. Fails only in a build without the page (GAMBREL_PAGE=OFF).
#pragma once

#include <span>
#include <string>

#include <gambrel/report.hpp>

namespace gambrel {

struct PageStyle {
    std::string command = {};  // that made it, as one would type it
    Theme theme = Theme::light;
};
Result<std::string> result_page(const Analysis& analysis, const PageStyle& style);
// `roofline` is the analysis of to_run(estimates).
Result<std::string> result_page(const Estimates& estimates, const Analysis& roofline, const PageStyle& style);
// One network on several GPUs: the answer, and how its layers move from the first to the second; then each by itself.
Result<std::string> result_page(std::span<const Estimates> each, const PageStyle& style);
// The comparisons first, then each side of them.
Result<std::string> result_page(std::span<const Comparison> comparisons, const PageStyle& style);
// Layers on the Roofline, from where the start has them to where the design that the reader is led to puts them.
Result<std::string> result_page(const ExplorationReport& report, const PageStyle& style);
Result<std::string> result_page(const Measurement& measurement, const PageStyle& style);

}  // namespace gambrel
