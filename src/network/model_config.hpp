// A transformer as its configuration describes it, whatever the family calls the fields. It knows no phase and no
// batch: model_layers.hpp makes layers of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <gambrel/network.hpp>

namespace gambrel::network_detail {

struct TransformerConfig {
    std::string family;  // model_type
    std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, vocabulary = 0;
    std::int64_t longest = 0;         // max_position_embeddings; 0: not given
    bool gated = true;                // SwiGLU or GeGLU, else one matrix up and one down
    bool rotary = true;               // else learned positions
    bool rms_norm = true;             // else layer norm, with a shift
    bool biases = false;              // of the linear layers
    bool tied_embeddings = false;     // the output matrix is the embedding
    bool encoder = false;             // attends to all positions; no head over the vocabulary, no decode
    std::int64_t window = 0;          // of the layers that slide
    std::int64_t sliding_layers = 0;  // how many do
    // Mixture of experts; 0 experts: none.
    std::int64_t experts = 0, topk = 0, expert_intermediate = 0, shared_intermediate = 0, dense_layers = 0;
    // Latent attention (MLA); 0: none.
    std::int64_t query_rank = 0, kv_rank = 0, rope_dim = 0, nope_dim = 0, value_dim = 0;
    std::int64_t patches = 0, patch_elements = 0;  // of an image, instead of a vocabulary
    Precision precision = Precision::bf16;         // of activations
    std::optional<Precision> weights;              // of linear layers in memory
    bool multiplies_fp4 = false;                   // else four-bit weights are widened before they are multiplied
    bool only_experts_quantized = false;           // as MXFP4 checkpoints have it
    // Linear layers multiply in the precision of their weights, after a kernel that quantizes their inputs.
    [[nodiscard]] bool multiplies_quantized() const {
        return weights == Precision::fp8 || weights == Precision::int8 || (weights == Precision::fp4 && multiplies_fp4);
    }
};

// All that is missing or wrong, at once.
Result<TransformerConfig> parse_model_config(std::string_view json, const std::string& source, Errors& notes);

}  // namespace gambrel::network_detail
