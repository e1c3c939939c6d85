// data/model/constants.json to Calibration. The file is part of the build, so a fault in it is an internal error.
#include <algorithm>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>
#include <gambrel/mapping.hpp>
#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel {
namespace {

using nlohmann::json;
using C = Calibration;

struct Field {
    const char* name;
    std::variant<double C::*, Seconds C::*, Cycles C::*, Bytes C::*> member;
};
constexpr Field kFields[] = {
    {"dram_reach", &C::dram_reach},
    {"launch", &C::launch},
    {"cold_start", &C::cold_start},
    {"cold_start_short", &C::cold_start_short},
    {"promised_clock", &C::promised_clock},
    {"sustained_clock", &C::sustained_clock},
    {"power_window", &C::power_window},
    {"power_settling", &C::power_settling},
    {"linear_call", &C::linear_call},
    {"split_call", &C::split_call},
    {"power_share", &C::power_share},
    {"byte_energy", &C::byte_energy},
    {"issue_interval", &C::issue_interval},
    {"instructions_outside_loop", &C::instructions_outside_loop},
    {"instructions_per_output", &C::instructions_per_output},
    {"instructions_per_step", &C::instructions_per_step},
    {"instructions_along_k", &C::instructions_along_k},
    {"direct_start", &C::direct_start},
    {"direct_channel", &C::direct_channel},
    {"direct_tap", &C::direct_tap},
    {"matrix_barrier", &C::matrix_barrier},
    {"ordered_sum", &C::ordered_sum},
    {"offsets_kernel", &C::offsets_kernel},
    {"tap_offsets", &C::tap_offsets},
    {"sliced_step", &C::sliced_step},
    {"fft_reach", &C::fft_reach},
    {"fft_slots", &C::fft_slots},
    {"fft_instructions", &C::fft_instructions},
    {"winograd_instructions", &C::winograd_instructions},
    {"transpose_reach", &C::transpose_reach},
    {"scalar_load_slots", &C::scalar_load_slots},
    {"engine_load_slots", &C::engine_load_slots},
    {"fragment_wavefronts", &C::fragment_wavefronts},
    {"engine_fragment_wavefronts", &C::engine_fragment_wavefronts},
    {"last_wave_gathering", &C::last_wave_gathering},
    {"drift", &C::drift},
    {"split_least_miss", &C::split_least_miss},
    {"split_full_excess", &C::split_full_excess},
    {"panel_share", &C::panel_share},
    {"tap_row_share", &C::tap_row_share},
    {"depthwise_l2", &C::depthwise_l2},
    {"wave_rounding", &C::wave_rounding},
    {"tile_overhead", &C::tile_overhead},
    {"power_surge", &C::power_surge},
    {"half_width_energy", &C::half_width_energy},
    {"ecc_refetch", &C::ecc_refetch},
    {"quantization_passes", &C::quantization_passes},
    {"drift_waves", &C::drift_waves},
    {"l2_out_of_step", &C::l2_out_of_step},
    {"joined_maximum", &C::joined_maximum},
    {"sum_of_parts", &C::sum_of_parts},
    {"registers_fixed", &C::registers_fixed},
    {"registers_per_output", &C::registers_per_output},
    {"tile_reach_area", &C::tile_reach_area},
    {"sliced_waves", &C::sliced_waves},
    {"wide_waves", &C::wide_waves},
    {"long_part", &C::long_part},
    {"wgrad_ctas_per_sm", &C::wgrad_ctas_per_sm},
    {"wgrad_least_parts", &C::wgrad_least_parts},
    {"wgrad_matrix_ctas", &C::wgrad_matrix_ctas},
    {"gemm_split_chunk", &C::gemm_split_chunk},
    {"convolution_split_from", &C::convolution_split_from},
};

template <class T>
T read(const json& value, const char* name) {
    if constexpr (std::is_same_v<T, double>) {
        return value.get<double>();
    } else {
        const auto parsed = parse_quantity<T>(value.get<std::string>());
        if (!parsed) throw std::logic_error(fmt::format("data/model/constants.json: {}: {}", name, parsed.error()));
        return *parsed;
    }
}

struct Loaded {
    Calibration values;
    std::vector<FittedConstant> list;

    Loaded() {
        const auto files = embedded("model");
        const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "constants"; });
        if (file == files.end()) throw std::logic_error("data/model/constants.json is not in the build");
        const json constants = json::parse(file->text).at("constants");
        if (constants.size() != std::size(kFields))
            throw std::logic_error("data/model/constants.json does not have exactly the constants of Calibration");
        for (const Field& field : kFields) {
            const json& c = constants.at(field.name);
            const json& value = c.at("value");
            std::visit(
                [&](auto member) {
                    using T = std::remove_reference_t<decltype(values.*member)>;
                    values.*member = read<T>(value, field.name);
                },
                field.member);
            list.push_back({field.name, value.is_string() ? value.get<std::string>() : value.dump(), c.at("mechanism"),
                            c.at("rows")});
        }
    }
};

const Loaded& loaded() {
    static const Loaded instance;
    return instance;
}

}  // namespace

const Calibration& calibration() { return loaded().values; }
std::span<const FittedConstant> fitted_constants() { return loaded().list; }

}  // namespace gambrel
