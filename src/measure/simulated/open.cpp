#include <charconv>

#include <fmt/format.h>

#include "measure/simulated/simulated.hpp"

namespace gambrel::measure_detail {
namespace {

template <class T>
bool number_from(std::string_view text, T& value) {
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

Errors set_option(SimulatedOptions& options, std::string_view option) {
    const auto equals = option.find('=');
    const std::string_view key = option.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : option.substr(equals + 1);
    const auto fault = [&](std::string what) { return Errors{{"--device", std::move(what)}}; };
    if (key == "noise") {
        if (number_from(value, options.noise) && options.noise >= 0 && options.noise <= 1) return {};
        return fault(fmt::format("noise \"{}\" is not a share between 0 and 1, such as 0.03", value));
    }
    if (key == "seed") {
        if (number_from(value, options.seed)) return {};
        return fault(fmt::format("seed \"{}\" is not a whole number", value));
    }
    if (key == "launch") {
        const auto time = parse_quantity<Seconds>(value);
        if (time && time->value() >= 0) return options.launch_overhead = *time, Errors{};
        return fault(fmt::format("launch \"{}\" is not a time such as 5us", value));
    }
    const std::vector<std::string> known{"noise", "seed", "launch"};
    return fault(fmt::format("\"{}\" is not an option of a simulated device{}; expected noise, seed or launch", key,
                             did_you_mean(key, known)));
}

}  // namespace

Result<std::unique_ptr<Device>> open_simulated(std::string_view rest) {
    SimulatedOptions options;
    auto comma = rest.find(',');
    const std::string machine_name(rest.substr(0, comma));
    while (comma != std::string_view::npos) {
        rest.remove_prefix(comma + 1);
        comma = rest.find(',');
        if (Errors errors = set_option(options, rest.substr(0, comma)); !errors.empty())
            return tl::unexpected(std::move(errors));
    }
    if (machine_name.empty()) return failure("--device", "sim needs a machine, such as sim:v100");
    const auto machine = machine_from(machine_name);
    if (!machine) return tl::unexpected(machine.error());
    return simulated_device(*machine, options);
}

}  // namespace gambrel::measure_detail
