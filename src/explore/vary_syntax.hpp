// The syntax that --vary and --limit share: lists, and amounts as factors. Knows no space and no limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gambrel/explore.hpp>

namespace gambrel::explore_detail {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::vector<std::string_view> split_outside_braces(std::string_view text);  // at commas

// "1.5" is a factor; "6 MiB", "45 SM", "1.2 TB/s" an amount, over `base`. Positive and finite.
tl::expected<double, std::string> factor_from(std::string_view text, Resource resource, double base);
// "no resource; expected one of ...; did you mean".
std::string unknown_resource(std::string_view found);

}  // namespace gambrel::explore_detail
