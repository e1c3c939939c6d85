#include "report/model_summary.hpp"

#include <fmt/format.h>
#include <gambrel/report.hpp>

namespace gambrel {
namespace report_detail {
namespace {

std::string gigabytes(Bytes bytes) { return fmt::format("{:.1f}", bytes.value() / 1e9); }

std::string step_of(Phase phase) {
    switch (phase) {
        case Phase::prefill:
            return "time to first token";
        case Phase::decode:
            return "time per output token";
        case Phase::train:
            break;
    }
    return "time of a training step";
}

}  // namespace

std::string memory_text(const ModelSummary& s) {
    if (s.capacity <= Bytes{}) return fmt::format("{} GB", gigabytes(s.memory));
    const std::string of = fmt::format("{} of {} GB", gigabytes(s.memory), gigabytes(s.capacity));
    if (s.fits) return fmt::format("fits: {}; largest batch {}", of, s.largest_batch);
    if (s.largest_batch < 1) return fmt::format("does not fit: {}, at any batch", of);
    return fmt::format("does not fit: {}; fits at batch {}", of, s.largest_batch);
}

std::string summary_sentence(const ModelSummary& s) {
    return fmt::format("{}, batch {}: {} {}, {:.4g} tokens/s, bound by {}; memory {}.", name(s.phase), s.batch,
                       step_of(s.phase), to_text(s.time, 3), s.tokens_per_s, s.bound, memory_text(s));
}

std::string summary_text(const ModelSummary& s) {
    std::string text =
        fmt::format("{}, batch {}: {} {}, {} tokens/s, bound by {}\n", name(s.phase), s.batch, step_of(s.phase),
                    to_text(s.time, 3), fmt::format("{:.4g}", s.tokens_per_s), s.bound);
    return text + fmt::format("memory {} (weights {}, KV cache {}, activations {} GB)\n", memory_text(s),
                              gigabytes(s.weights), gigabytes(s.kv_cache), gigabytes(s.activations));
}

Json summary_json(const ModelSummary& s) {
    Json out;
    out["phase"] = name(s.phase);
    out["batch"] = s.batch;
    out["time_s"] = s.time.value();
    out["tokens_per_s"] = s.tokens_per_s;
    if (s.phase == Phase::prefill) out["time_to_first_token_s"] = s.time_to_first_token.value();
    if (s.phase == Phase::decode) out["time_per_output_token_s"] = s.time_per_output_token.value();
    out["memory_bytes"] = s.memory.value();
    out["weights_bytes"] = s.weights.value();
    out["kv_cache_bytes"] = s.kv_cache.value();
    out["activation_bytes"] = s.activations.value();
    out["capacity_bytes"] = s.capacity > Bytes{} ? Json(s.capacity.value()) : Json(nullptr);
    out["fits"] = s.fits;
    out["largest_batch"] = s.largest_batch;
    out["bound"] = s.bound;
    return out;
}

}  // namespace report_detail
}  // namespace gambrel
