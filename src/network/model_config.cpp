#include "network/model_config.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/json_text.hpp"
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

struct FamilyFacts {
    std::string_view name;
    bool gated, rotary, rms_norm, biases, tied, encoder;
};
// What a family's code fixes and its configuration does not say.
constexpr std::array<FamilyFacts, 14> kFamilies = {{
    {"gpt2", false, false, false, true, true, false},
    {"gpt_neox", false, true, false, true, false, false},
    {"gptj", false, true, false, true, false, false},
    {"gpt_neo", false, false, false, true, true, false},
    {"opt", false, false, false, true, true, false},
    {"bloom", false, false, false, true, true, false},
    {"falcon", false, true, false, false, true, false},
    {"phi", false, true, false, true, false, false},
    {"starcoder2", false, true, false, true, true, false},
    {"bert", false, false, false, true, true, true},
    {"roberta", false, false, false, true, true, true},
    {"distilbert", false, false, false, true, true, true},
    {"vit", false, false, false, true, true, true},
    {"deit", false, false, false, true, true, true},
}};

void read_family(ConfigFields& f, TransformerConfig& c) {
    c.family = f.text({"model_type"});
    for (const FamilyFacts& facts : kFamilies) {
        if (facts.name != c.family) continue;
        c.gated = facts.gated, c.rotary = facts.rotary, c.rms_norm = facts.rms_norm, c.biases = facts.biases;
        c.tied_embeddings = facts.tied, c.encoder = facts.encoder;
    }
    c.tied_embeddings = f.flag("tie_word_embeddings", c.tied_embeddings || c.family.starts_with("gemma"));
}

void read_sizes(ConfigFields& f, TransformerConfig& c) {
    c.layers = f.count({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, std::nullopt);
    c.hidden = f.count({"hidden_size", "n_embd", "d_model", "dim"}, std::nullopt);
    c.heads = f.count({"num_attention_heads", "n_head", "n_heads", "num_heads"}, std::nullopt);
    c.kv_heads = f.count({"num_key_value_heads", "num_kv_heads"}, f.flag("multi_query", false) ? 1 : c.heads);
    c.head_dim = f.count({"head_dim"}, c.heads > 0 ? c.hidden / c.heads : 0);
    const std::int64_t inner = c.family == "gpt2" || c.family == "falcon" || c.family == "bloom" ? 4 * c.hidden : 0;
    c.intermediate = f.count({"intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size", "hidden_dim"},
                             inner > 0 ? std::optional(inner) : std::nullopt);
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

void read_experts(ConfigFields& f, TransformerConfig& c) {
    c.experts = f.count({"num_local_experts", "num_experts", "n_routed_experts"}, 0);
    if (c.experts <= 1) {
        c.experts = 0;
        return;
    }
    c.topk = f.count({"num_experts_per_tok", "num_experts_per_token", "moe_topk", "experts_per_token"}, std::nullopt);
    c.expert_intermediate = f.count({"moe_intermediate_size"}, c.intermediate);
    c.shared_intermediate = f.count({"shared_expert_intermediate_size"}, 0);
    if (const std::int64_t shared = f.count({"n_shared_experts", "num_shared_experts"}, 0); shared > 0)
        c.shared_intermediate = shared * c.expert_intermediate;
    c.dense_layers = std::min(c.layers, f.count({"first_k_dense_replace"}, 0));
}

void read_attention(ConfigFields& f, TransformerConfig& c) {
    c.query_rank = f.count({"q_lora_rank"}, 0);
    c.kv_rank = f.count({"kv_lora_rank"}, 0);
    if (c.kv_rank > 0) {
        c.rope_dim = f.count({"qk_rope_head_dim"}, std::nullopt);
        c.nope_dim = f.count({"qk_nope_head_dim"}, std::nullopt);
        c.value_dim = f.count({"v_head_dim"}, std::nullopt);
        c.head_dim = c.rope_dim + c.nope_dim;
    }
    c.window = f.flag("use_sliding_window", true) ? f.count({"sliding_window"}, 0) : 0;
    if (c.window == 0) return;
    c.sliding_layers = c.layers;
    if (const json* types = f.find({"layer_types"}); types && types->is_array()) {
        c.sliding_layers = 0;
        for (const json& type : *types)
            if (type.is_string() && type.get<std::string>() == "sliding_attention") ++c.sliding_layers;
        c.sliding_layers = std::min(c.sliding_layers, c.layers);
    } else if (const std::int64_t pattern = f.count({"sliding_window_pattern"}, c.family == "gemma2" ? 2 : 0);
               pattern > 0) {
        c.sliding_layers = c.layers - c.layers / pattern;
    }
}

// What quantization tools write: the method's name, or bits and type of a group of weights.
void read_quantization(ConfigFields& root, const std::string& source, Errors& faults, Errors& notes,
                       TransformerConfig& c) {
    const json* object = root.find({"quantization_config"});
    if (!object || !object->is_object()) return;
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
        notes.push_back({source, fmt::format("quantization_config of method \"{}\" is not known: weights are taken "
                                             "as {}",
                                             method, name(c.precision))});
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
    read_family(f, c);
    read_sizes(f, c);
    if (faults.empty()) {
        read_experts(f, c);
        read_attention(f, c);
    }
    const std::string type = nested && f.text({"torch_dtype", "dtype"}).empty() ? outer.text({"torch_dtype", "dtype"})
                                                                                : f.text({"torch_dtype", "dtype"});
    if (const auto precision = precision_from(type))
        c.precision = *precision;
    else
        notes.push_back({source, "has no torch_dtype: taken as bf16; --precision says otherwise"});
    read_quantization(outer, source, faults, notes, c);
    for (const auto& [what, value] : {std::pair{"num_hidden_layers", c.layers},
                                      {"hidden_size", c.hidden},
                                      {"num_attention_heads", c.heads},
                                      {"num_key_value_heads", c.kv_heads},
                                      {"head_dim", c.head_dim},
                                      {"intermediate_size", c.intermediate}})
        if (faults.empty() && value < 1) f.fault(what, fmt::format("is {}, expected at least 1", value));
    if (faults.empty() && c.heads % c.kv_heads != 0)
        f.fault("num_key_value_heads", fmt::format("is {}, which does not divide {} heads", c.kv_heads, c.heads));
    if (!faults.empty()) return tl::unexpected(std::move(faults));
    return c;
}

}  // namespace gambrel::network_detail
