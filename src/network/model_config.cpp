#include "network/model_config.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "network/model_family.hpp"
#include "network/text.hpp"

namespace gambrel::network_detail {
namespace {

using nlohmann::json;

constexpr std::int64_t kLargestEntry = 1 << 26;

// Fields of others: unknown ones are theirs, a known one of the wrong kind is a fault.
class ConfigFields {
public:
    ConfigFields(const json& object, std::string source, Errors& faults)
        : object_(object), source_(std::move(source)), faults_(faults) {}

    // The first of the names that is there and not null.
    [[nodiscard]] const json* find(std::initializer_list<const char*> names) const {
        for (const char* name : names)
            if (const auto it = object_.find(name); it != object_.end() && !it->is_null()) return &*it;
        return nullptr;
    }
    std::int64_t count(std::initializer_list<const char*> names, std::optional<std::int64_t> otherwise) {
        const json* found = find(names);
        if (!found) {
            if (!otherwise) fault(*names.begin(), "is missing; expected a whole number from 1");
            return otherwise.value_or(0);
        }
        const double value = found->is_number() ? found->get<double>() : std::nan("");
        if (value >= 0 && value <= static_cast<double>(kLargestEntry) && value == std::floor(value))
            return static_cast<std::int64_t>(value);
        fault(*names.begin(),
              fmt::format("is {}, expected a whole number up to {}", base_detail::json_excerpt(*found), kLargestEntry));
        return otherwise.value_or(0);
    }
    std::string text(std::initializer_list<const char*> names) const {
        const json* found = find(names);
        return found && found->is_string() ? lower(found->get<std::string>()) : std::string();
    }
    bool flag(const char* name, bool otherwise) const {
        const json* found = find({name});
        return found && found->is_boolean() ? found->get<bool>() : otherwise;
    }
    void fault(std::string_view field, std::string what) {
        faults_.push_back({fmt::format("{}: {}", source_, field), std::move(what)});
    }

private:
    const json& object_;
    std::string source_;
    Errors& faults_;
};

// A model that is not a stack of attention and MLPs must not be predicted as one. Names of fields tell it where the
// family is not known.
bool can_be_modelled(ConfigFields& f, const std::string& family) {
    if (const std::string_view why = why_not_modelled(family); !why.empty())
        return f.fault("model_type", fmt::format("{} {}", family, why)), false;
    if (f.flag("is_encoder_decoder", false) || f.find({"num_decoder_layers", "decoder_layers"}))
        return f.fault("is_encoder_decoder", "an encoder with a decoder is not modelled"), false;
    for (const char* field : {"linear_num_value_heads", "mamba_d_state", "mamba_num_heads", "ssm_state_size", "ssm_cfg",
                              "linear_attn_config"})
        if (f.find({field}))
            return f.fault(field, "layers of state spaces or linear attention are not modelled"), false;
    if (const json* types = f.find({"layer_types"}); types && types->is_array())
        for (const json& type : *types)
            if (type != "full_attention" && type != "sliding_attention" && type != "chunked_attention") {
                f.fault("layer_types", fmt::format("has {}, which is not modelled; expected full_attention, "
                                                   "sliding_attention or chunked_attention",
                                                   base_detail::json_excerpt(type)));
                return false;
            }
    return true;
}

const ModelFamily& read_family(ConfigFields& f, const std::string& source, Errors& notes, TransformerConfig& c) {
    static constexpr ModelFamily kUnknown{};
    c.family = f.text({"model_type"});
    const ModelFamily* found = find_family(c.family);
    const bool image = f.find({"image_size"}) && !f.find({"vocab_size"});
    if (!found && image) found = find_family("vit");
    if (!found)
        notes.push_back({source, fmt::format("{}: taken as a decoder of Llama's kind (gated MLP, RMS norm, rotary "
                                             "embedding)",
                                             c.family.empty() ? "has no model_type"
                                                              : "model_type \"" + c.family + "\" is not known")});
    const ModelFamily& facts = found ? *found : kUnknown;
    c.gated = facts.gated, c.rotary = facts.rotary, c.rms_norm = facts.rms_norm, c.biases = facts.biases;
    c.encoder = facts.encoder;
    c.tied_embeddings = f.flag("tie_word_embeddings", facts.tied);
    return facts;
}

// Falcon's first models write a number of key heads that they do not use.
std::int64_t kv_heads(ConfigFields& f, const TransformerConfig& c) {
    const std::int64_t shared = f.flag("multi_query", false) ? 1 : c.heads;
    if (c.family == "falcon" && !f.flag("new_decoder_architecture", false)) return shared;
    return f.count({"num_key_value_heads", "num_kv_heads"}, shared);
}

void read_sizes(ConfigFields& f, const ModelFamily& family, TransformerConfig& c) {
    c.layers = f.count({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, std::nullopt);
    c.hidden = f.count({"hidden_size", "n_embd", "d_model", "dim"}, std::nullopt);
    c.heads = f.count({"num_attention_heads", "n_head", "n_heads", "num_heads"}, std::nullopt);
    c.kv_heads = kv_heads(f, c);
    c.head_dim = f.count({"head_dim"}, c.heads > 0 ? c.hidden / c.heads : 0);
    // Llama 4 has a size of its own for the layers without experts.
    c.intermediate = f.find({"intermediate_size_mlp"})
                         ? f.count({"intermediate_size_mlp"}, std::nullopt)
                         : f.count({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "hidden_dim"},
                                   family.four_times ? std::optional(4 * c.hidden) : std::nullopt);
    c.longest = f.count({"max_position_embeddings", "n_positions", "n_ctx"}, 0);
    c.biases = f.flag("attention_bias", c.biases);
    const std::int64_t image = f.count({"image_size"}, 0), patch = f.count({"patch_size"}, 0);
    if (image > 0 && patch > 0 && !f.find({"vocab_size"})) {
        c.patches = (image / patch) * (image / patch) + 1;
        c.patch_elements = f.count({"num_channels"}, 3) * patch * patch;
        c.encoder = true;
    } else {
        c.vocabulary = f.count({"vocab_size"}, std::nullopt);
    }
}

// Layers of a mixture of experts that have a plain MLP instead: the first few, those between two steps, those named.
std::int64_t dense_layers(ConfigFields& f, const TransformerConfig& c) {
    if (const json* sparse = f.find({"moe_layers"}); sparse && sparse->is_array())
        return std::max<std::int64_t>(0, c.layers - static_cast<std::int64_t>(sparse->size()));
    const std::int64_t first = std::min(c.layers, f.count({"first_k_dense_replace"}, 0));
    const std::int64_t step =
        std::max<std::int64_t>(1, f.count({"decoder_sparse_step", "interleave_moe_layer_step"}, 1));
    std::int64_t sparse = c.layers / step - first / step;
    std::set<std::int64_t> named;
    if (const json* only = f.find({"mlp_only_layers"}); only && only->is_array())
        for (const json& layer : *only)
            if (layer.is_number_integer()) named.insert(layer.get<std::int64_t>());
    for (const std::int64_t layer : named)
        if (layer >= first && layer < c.layers && (layer + 1) % step == 0) --sparse;
    return c.layers - sparse;
}

void read_experts(ConfigFields& f, const ModelFamily& family, TransformerConfig& c) {
    c.experts = f.count({"num_local_experts", "num_experts", "n_routed_experts"}, 0);
    if (c.experts <= 1) {
        c.experts = 0;
        return;
    }
    c.topk = f.count({"num_experts_per_tok", "num_experts_per_token", "moe_topk", "experts_per_token"}, std::nullopt);
    c.expert_intermediate = f.count({"moe_intermediate_size", "intermediate_size"}, c.intermediate);
    c.shared_intermediate =
        f.count({"shared_expert_intermediate_size"}, family.shared_as_routed ? c.expert_intermediate : 0);
    if (const std::int64_t shared = f.count({"n_shared_experts", "num_shared_experts"}, 0); shared > 0)
        c.shared_intermediate = shared * c.expert_intermediate;
    c.dense_layers = dense_layers(f, c);
}

void read_attention(ConfigFields& f, const ModelFamily& family, TransformerConfig& c) {
    c.query_rank = f.count({"q_lora_rank"}, 0);
    c.kv_rank = f.count({"kv_lora_rank"}, 0);
    if (c.kv_rank > 0) {
        c.rope_dim = f.count({"qk_rope_head_dim"}, std::nullopt);
        c.nope_dim = f.count({"qk_nope_head_dim"}, std::nullopt);
        c.value_dim = f.count({"v_head_dim"}, std::nullopt);
        c.head_dim = c.rope_dim + c.nope_dim;
    }
    c.window = f.flag("use_sliding_window", true) ? f.count({"sliding_window", "attention_chunk_size"}, 0) : 0;
    if (c.window == 0) return;
    c.sliding_layers = c.layers;
    if (const json* types = f.find({"layer_types"}); types && types->is_array()) {
        c.sliding_layers = 0;
        if (static_cast<std::int64_t>(types->size()) != c.layers)
            f.fault("layer_types", fmt::format("has {} layers, but num_hidden_layers is {}", types->size(), c.layers));
        for (const json& type : *types)
            if (type != "full_attention") ++c.sliding_layers;
        c.sliding_layers = std::min(c.sliding_layers, c.layers);
    } else if (const std::int64_t pattern = f.count({"sliding_window_pattern"}, family.sliding_pattern); pattern > 0) {
        c.sliding_layers = c.layers - c.layers / pattern;
    }
}

// What quantization tools write: the method's name, or bits and type of a group of weights.
void read_quantization(ConfigFields& root, const std::string& source, Errors& faults, Errors& notes,
                       TransformerConfig& c) {
    const json* object = root.find({"quantization_config"});
    if (!object) return;
    if (!object->is_object())
        return root.fault("quantization_config",
                          fmt::format("is {}, expected an object", base_detail::json_excerpt(*object)));
    ConfigFields q(*object, source + ": quantization_config", faults);
    const std::string method = q.text({"quant_method"}), algorithm = q.text({"quant_algo"});
    std::int64_t bits = q.count({"bits", "w_bit"}, 0);
    std::string type = q.text({"fmt"});
    if (const json* groups = q.find({"config_groups"}); groups && groups->is_object() && !groups->empty()) {
        const json& group = groups->begin().value();
        if (group.is_object() && group.contains("weights") && group.at("weights").is_object()) {
            ConfigFields w(group.at("weights"), source + ": quantization_config", faults);
            bits = w.count({"num_bits"}, bits);
            type = w.text({"type"});
        }
    }
    if (q.flag("load_in_4bit", false)) bits = 4;
    if (q.flag("load_in_8bit", false)) bits = 8;
    if (method == "mxfp4" || algorithm == "nvfp4" || algorithm == "mxfp4") {
        c.weights = Precision::fp4;
        c.only_experts_quantized = method == "mxfp4";
    } else if (method == "fp8" || algorithm == "fp8" || (bits == 8 && type.starts_with("float"))) {
        c.weights = Precision::fp8;
    } else if (bits == 4) {
        c.weights = type.starts_with("float") ? Precision::fp4 : Precision::int4;
    } else if (bits == 8) {
        c.weights = Precision::int8;
    } else {
        notes.push_back(
            {source, fmt::format("quantization_config of method \"{}\"{} is not known: weights are taken "
                                 "as {}",
                                 method, bits > 0 ? fmt::format(" with {} bits", bits) : "", name(c.precision))});
        return;
    }
    notes.push_back({source, fmt::format("weights are stored in {} (quantization_config)", name(*c.weights))});
}

}  // namespace

Result<TransformerConfig> parse_model_config(std::string_view text, const std::string& source, Errors& notes) {
    const auto document = base_detail::parse_json(text, source);
    if (!document) return tl::unexpected(document.error());
    if (!document->is_object()) return failure(source, "is not an object, expected a model's config.json");
    // Models of text and images have the language model's fields one level down.
    const auto inner = document->find("text_config");
    const bool nested = inner != document->end() && inner->is_object();
    Errors faults;
    ConfigFields outer(*document, source, faults);
    ConfigFields f(nested ? *inner : *document, nested ? source + ": text_config" : source, faults);
    TransformerConfig c;
    const std::string family = outer.text({"model_type"});
    if (!why_not_modelled(family).empty() ? !can_be_modelled(outer, family)
                                          : !can_be_modelled(f, f.text({"model_type"})))
        return tl::unexpected(std::move(faults));
    const ModelFamily& facts = read_family(f, source, notes, c);
    read_sizes(f, facts, c);
    if (faults.empty()) {
        read_experts(f, facts, c);
        read_attention(f, facts, c);
    }
    if (nested && outer.find({"vision_config", "audio_config"}))
        notes.push_back({source, "only the language model is predicted, not the encoder of images or sound"});
    std::string type = nested && f.text({"torch_dtype", "dtype"}).empty() ? outer.text({"torch_dtype", "dtype"})
                                                                          : f.text({"torch_dtype", "dtype"});
    if (type.starts_with("torch.")) type.erase(0, 6);
    if (const auto precision = precision_from(type))
        c.precision = *precision;
    else
        notes.push_back(
            {source, fmt::format("{}: taken as bf16; --precision says otherwise",
                                 type.empty() ? "has no torch_dtype" : "torch_dtype \"" + type + "\" is not known")});
    read_quantization(outer, source, faults, notes, c);
    for (const auto& [what, value] : {std::pair{"num_hidden_layers", c.layers},
                                      {"hidden_size", c.hidden},
                                      {"num_attention_heads", c.heads},
                                      {"num_key_value_heads", c.kv_heads},
                                      {"head_dim", c.head_dim},
                                      {"intermediate_size", c.intermediate}})
        if (faults.empty() && value < 1) f.fault(what, fmt::format("is {}, expected at least 1", value));
    if (faults.empty() && c.kv_rank == 0 && !f.find({"head_dim"}) && c.hidden % c.heads != 0)
        f.fault("hidden_size",
                fmt::format("is {}, which {} heads do not divide, and there is no head_dim", c.hidden, c.heads));
    if (faults.empty() && c.heads % c.kv_heads != 0)
        f.fault("num_key_value_heads", fmt::format("is {}, which does not divide {} heads", c.kv_heads, c.heads));
    if (!faults.empty()) return tl::unexpected(std::move(faults));
    return c;
}

}  // namespace gambrel::network_detail
