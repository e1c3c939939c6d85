// JSON to Architecture.
#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "machine/architecture_section.hpp"

namespace gambrel {
namespace {

using base_detail::Fields;
using machine_detail::Section;
using nlohmann::json;

void read_sm(Section s, Architecture& a) {
    a.schedulers = s.number("schedulers", 1, 64);
    a.max_warps = s.number("max_warps", 1, 1024);
    a.max_ctas = s.number("max_ctas", 1, 1024);
    a.registers = s.quantity<Bytes>("registers");
    a.shared_memory = s.quantity<Bytes>("shared_memory");
    a.shared_memory_per_cta = s.quantity<Bytes>("shared_memory_per_cta");
    a.shared_width = s.quantity<BytesPerCycle>("shared_width");
    a.l1_width = s.quantity<BytesPerCycle>("l1_width");
    s.finish();
}

void read_allocation(Section s, Architecture& a) {
    a.registers_per_thread = s.count("registers_per_thread", 1, 1024);
    a.register_granularity = s.count("register_granularity", 1, 64);
    a.shared_memory_granularity = s.quantity<Bytes>("shared_memory_granularity");
    a.shared_memory_reserved = s.quantity<Bytes>("shared_memory_reserved");
    s.finish();
}

void read_l1(Section s, Architecture& a) {
    a.l1_capacity = s.quantity<Bytes>("capacity");
    a.l1_holds_shared_memory = s.flag("holds_shared_memory");
    a.carve_outs = s.quantities<Bytes>("carve_outs");
    a.l1_keeps_global_loads = s.flag("keeps_global_loads");
    s.finish();
}

void read_dram(Section s, Architecture& a) {
    a.dram_byte_energy = s.number("byte_energy_pj", 0, 10'000);
    a.dram_row_change = s.quantity_or_none<Bytes>("row_change");
    const bool opens = a.dram_row_change > Bytes{};
    a.dram_row = opens ? s.quantity<Bytes>("row") : s.quantity_or_none<Bytes>("row");
    a.single_sector_drift = s.number("single_sector_drift", 0, 1e6, false);
    s.finish();
}

void read_cuda_cores(Section s, Architecture& a) {
    a.gemm_tiles = s.tiles("gemm");
    a.batched_gemm_tiles = s.tiles("gemm_batched", false);
    a.convolution_tile = s.tile("convolution");
    a.narrow_convolution_tile = s.tile("convolution_narrow");
    a.narrow_up_to_filters = s.count("narrow_up_to_filters", 0, 1 << 20);
    a.narrow_from_ctas_per_sm = s.count("narrow_from_ctas_per_sm", 1, 1 << 20, false);
    a.filter_gradient_tile = s.tile("filter_gradient");
    a.ctas_keep_step = !s.flag("ctas_drift_apart", false);
    a.engines_fill_sms = s.flag("engines_fill_sms", false);
    a.depthwise_tap = s.number("depthwise_tap", 0, 1000, false);
    a.engines_only = s.flag("engines_only", false);
    a.engine_wait = s.quantity_or_none<Cycles>("engine_wait");
    a.engine_wait_later = s.quantity_or_none<Cycles>("engine_wait_later");
    a.fourier.transposes = s.flag("fourier_transposes", false);
    a.fourier.rereads_filters = s.flag("fourier_rereads_filters", false);
    a.fourier.single_image_is_vector = s.flag("fourier_single_image_is_vector", false);
    a.fourier.few_images = s.tile_or("fourier_few_images", {});
    if (const std::int32_t from = s.count("fourier_wide_from_images", 0, 1 << 20, false); from > 0)
        a.fourier.wide_from_images = from;
    a.fourier.tiled = s.tile_or("fourier_tile", {});
    a.fourier.slots_of_four = s.count("fourier_slots_of_four", 0, 32, false);
    a.scattered_store = s.quantity_or_none<Cycles>("scattered_store");
    a.product_launch = s.quantity_or_none<Seconds>("product_launch");
    a.short_kernel = s.quantity_or_none<Cycles>("short_kernel");
    a.engines.written_out.narrow = s.tile_or("explicit_engine", a.engines.written_out.narrow);
    if (const std::int32_t from = s.count("half_engine_wide_from_filters", 0, 1 << 20, false); from > 0) {
        a.engines.half_wide_from_filters = from;
        a.engines.half_wide = s.tile("half_engine_wide");
        a.engines.half_sums = s.tile("half_engine_nchw");
    }
    s.finish();
}

EngineKernels engine_kernels(Section s) {
    EngineKernels e;
    const auto choice = [&](const std::string& key) {
        EngineChoice c{s.tile(key), s.tile(key + "_wide")};
        c.from_filters = s.count(key + "_wide_from_filters", 0, 1 << 20);
        c.from_k = s.count(key + "_wide_from_k", 0, 1 << 20);
        c.from_ctas = s.count(key + "_wide_from_ctas", 0, 1 << 20);
        return c;
    };
    e.implicit = choice("implicit");
    e.precomputed = choice("precomputed");
    e.precomputed.tiled_from_images = s.count("precomputed_tiled_from_images", 0, 1 << 20);
    e.precomputed.tiled_from_ctas = s.count("precomputed_tiled_from_ctas", 0, 1 << 20);
    e.filter_run = s.count("filter_run", 1, 32);
    e.store_run = s.count("store_run", 1, 32);
    e.filters_through_l1 = s.flag("filters_through_l1");
    e.written_out = choice("written_out");
    e.load_slots = s.number("load_slots", 0, 100);
    e.border_step = s.quantity<Cycles>("border_step");
    s.finish();
    return e;
}

MatrixUnits matrix_units(Section s) {
    MatrixUnits m;
    m.reach = s.number("reach", 0.01, 1);
    m.asynchronous_copies = s.flag("asynchronous_copies");
    m.operands_from_shared_memory = s.flag("operands_from_shared_memory");
    m.stages = s.count("stages", 1, 16);
    m.k_step = s.quantity<Bytes>("k_step");
    m.outputs_per_thread = s.count("outputs_per_thread", 1, 256);
    m.threads = s.count("threads", 32, 1024, false);
    m.producer_threads = s.count("producer_threads", 0, 1024, false);
    m.registers = s.count("registers", 16, 1024, false);
    m.tiles = s.tiles("tiles");
    m.convolution_tiles = s.tiles("convolution_tiles", false);
    m.convolution_channels = s.count("convolution_channels", 1, 64, false);
    m.steps_end_with_tap = s.flag("steps_end_with_tap", false);
    s.finish();
    return m;
}

MatrixGemm matrix_gemm(Section s) {
    MatrixGemm m;
    m.start = s.quantity<Seconds>("start");
    m.l2_reuse = s.number("l2_reuse", 0.01, 64);
    m.dram_reach = s.number("dram_reach", 0.01, 1);
    m.narrow_reach = s.number("narrow_reach", 0.01, 1);
    m.full_rate = s.quantity<FlopPerCycle>("full_rate");
    m.flop_energy = s.number("flop_energy_pj", 0, 1000);
    m.half_width_energy = s.number("half_width_energy", 0, 1, false);
    m.quarter_width_energy = s.number("quarter_width_energy", 0, 1, false);
    m.lowest_voltage = s.quantity_or_none<Frequency>("lowest_voltage");
    m.tiles = s.tiles("tiles");
    s.list("scaled_kernels", [&](Section k) {
        ScaledKernel& kernel = m.scaled_kernels.emplace_back();
        kernel.from_rows = k.count("from_rows", 0, 1 << 20, false);
        kernel.from_k = k.count("from_k", 0, 1 << 20, false);
        kernel.up_to_rows = k.count("up_to_rows", 0, 1 << 20, false);
        kernel.up_to_columns = k.count("up_to_columns", 0, 1 << 20, false);
        kernel.tile = k.tile("tile");
        kernel.cluster_m = k.count("cluster_m", 1, 16);
        kernel.cluster_n = k.count("cluster_n", 1, 16);
        k.finish();
    });
    s.finish();
    return m;
}

std::vector<ComputeCapability> capabilities(Fields& root) {
    std::vector<ComputeCapability> out;
    for (const std::string& text : root.texts("compute_capabilities"))
        if (const auto cc = parse_compute_capability(text))
            out.push_back(*cc);
        else
            root.fault("compute_capabilities", fmt::format("\"{}\" is not of the form \"8.6\"", text));
    if (out.empty()) root.fault("compute_capabilities", "expected at least one, such as \"8.6\"");
    return out;
}

}  // namespace

Result<Architecture> parse_architecture(std::string_view text, std::string_view source_name) {
    const std::string source = std::string(source_name) + ": ";
    const auto document = base_detail::parse_json(text, std::string(source_name));
    if (!document) return tl::unexpected(document.error());
    Errors errors;
    Architecture a;
    Fields root(*document, source, errors);
    if (const auto* schema = root.any("schema", true); schema && *schema != 1)
        root.fault("schema", "expected 1, the version that this gambrel reads");
    a.id = root.text("id", true);
    a.name = root.text("name", true);
    a.covers = capabilities(root);
    const auto section = [&](const char* key, auto&& read) {
        if (const json* object = root.object(key, true)) read(Section(*object, source + key, errors), a);
    };
    section("sm", read_sm);
    section("allocation", read_allocation);
    section("l1", read_l1);
    section("l2", [](Section s, Architecture& to) {
        to.l2_partitions_keep_copies = s.flag("partitions_keep_copies");
        to.l2_fills_partial_writes = s.flag("fills_partial_writes", false);
        to.l2_counts_read_crossing = s.count("counts_read_crossing", 0, 4, false);
        to.l2_counts_write_crossing = s.count("counts_write_crossing", 0, 4, false);
        to.l2_counts_rewrite_crossing = s.count("counts_rewrite_crossing", 0, 4, false);
        to.l2_counts_launch = s.quantity_or_none<Bytes>("counts_launch");
        to.l2_fetch = s.quantity_or_none<Bytes>("fetch");
        to.l2_keeps_written = s.flag("keeps_written", false);
        s.finish();
    });
    if (const json* object = root.object("dram")) read_dram(Section(*object, source + "dram", errors), a);
    section("issue", [](Section s, Architecture& to) {
        to.issue_slots = s.number("slots_per_instruction", 0.1, 10);
        to.issue_interval = s.quantity_or_none<Cycles>("interval");
        to.flop_energy = s.number("flop_energy_pj", 0, 1000, false);
        s.finish();
    });
    section("cuda_cores", read_cuda_cores);
    if (const json* object = root.object("matrix"))
        a.matrix = matrix_units(Section(*object, source + "matrix", errors));
    if (const json* object = root.object("engines"))
        a.engines = engine_kernels(Section(*object, source + "engines", errors));
    if (const json* object = root.object("matrix_gemm"))
        a.matrix_gemm = matrix_gemm(Section(*object, source + "matrix_gemm", errors));
    section("host", [](Section s, Architecture& to) {
        to.gemm_call = s.quantity<Seconds>("gemm_call");
        to.convolution_call = s.quantity<Seconds>("convolution_call");
        to.library_call = s.quantity<Seconds>("library_call");
        s.finish();
    });
    root.finish();
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return a;
}

}  // namespace gambrel
