#include "network/model_family.hpp"

#include <algorithm>
#include <array>

namespace gambrel::network_detail {
namespace {

constexpr ModelFamily llama(std::string_view name) { return {.name = name}; }
constexpr ModelFamily tied(std::string_view name, std::int64_t sliding_pattern = 0) {
    return {.name = name, .tied = true, .sliding_pattern = sliding_pattern};
}
// A plain MLP and layer norms with shifts.
constexpr ModelFamily plain(std::string_view name, bool rotary, bool biases, bool tied, bool four_times = false) {
    return {.name = name,
            .gated = false,
            .rotary = rotary,
            .rms_norm = false,
            .biases = biases,
            .tied = tied,
            .four_times = four_times};
}
constexpr ModelFamily encoder(std::string_view name) {
    return {.name = name,
            .gated = false,
            .rotary = false,
            .rms_norm = false,
            .biases = true,
            .tied = true,
            .encoder = true};
}

constexpr std::array kFamilies = {
    llama("llama"),
    llama("mistral"),
    llama("mistral3"),
    llama("ministral"),
    llama("mixtral"),
    llama("qwen2"),
    llama("qwen3"),
    llama("qwen2_moe"),
    llama("qwen3_moe"),
    llama("qwen2_vl"),
    llama("qwen2_vl_text"),
    llama("qwen2_5_vl"),
    llama("qwen2_5_vl_text"),
    llama("qwen3_vl"),
    llama("qwen3_vl_text"),
    llama("deepseek_v2"),
    llama("deepseek_v3"),
    llama("kimi_k2"),
    llama("phi3"),
    llama("phimoe"),
    llama("olmo"),
    llama("olmo2"),
    llama("olmoe"),
    llama("glm"),
    llama("glm4"),
    llama("glm4_moe"),
    llama("internlm2"),
    llama("internlm3"),
    llama("granite"),
    llama("granitemoe"),
    llama("smollm3"),
    llama("stablelm"),
    llama("baichuan"),
    llama("yi"),
    llama("minicpm"),
    llama("exaone"),
    llama("ernie4_5"),
    llama("ernie4_5_moe"),
    llama("seed_oss"),
    tied("gemma"),
    tied("gemma2", 2),
    tied("gemma3", 6),
    tied("gemma3_text", 6),
    tied("cohere"),
    tied("cohere2", 4),
    ModelFamily{.name = "gpt_oss", .biases = true, .sliding_pattern = 2},
    ModelFamily{.name = "llama4", .shared_as_routed = true},
    ModelFamily{.name = "llama4_text", .shared_as_routed = true},
    ModelFamily{.name = "nemotron", .gated = false, .rms_norm = false},
    plain("gpt2", false, true, true, true),
    plain("gpt_bigcode", false, true, true, true),
    plain("gpt_neox", true, true, false),
    plain("gptj", true, true, false, true),
    plain("gpt_neo", false, true, true, true),
    plain("opt", false, true, true),
    plain("bloom", false, true, true, true),
    plain("falcon", true, false, true, true),
    plain("phi", true, true, false),
    plain("starcoder2", true, true, true),
    plain("mpt", false, false, true, true),
    encoder("bert"),
    encoder("roberta"),
    encoder("xlm-roberta"),
    encoder("camembert"),
    encoder("electra"),
    encoder("mpnet"),
    encoder("distilbert"),
    encoder("vit"),
    encoder("deit"),
    encoder("dinov2"),
};

constexpr std::array<std::string_view, 18> kRecurrent = {
    "mamba",      "mamba2",    "falcon_mamba", "rwkv",    "rwkv7",       "jamba",
    "bamba",      "zamba",     "zamba2",       "lfm2",    "xlstm",       "recurrent_gemma",
    "nemotron_h", "falcon_h1", "qwen3_next",   "minimax", "kimi_linear", "granitemoehybrid"};
constexpr std::array<std::string_view, 14> kEncoderDecoders = {
    "t5",     "mt5",     "umt5", "longt5",  "bart",       "mbart",      "whisper",
    "marian", "pegasus", "led",  "m2m_100", "blenderbot", "prophetnet", "moonshine"};
constexpr std::array<std::string_view, 6> kTwoTowers = {"clip", "siglip", "siglip2", "blip", "align", "chinese_clip"};

}  // namespace

const ModelFamily* find_family(std::string_view model_type) {
    const auto found =
        std::find_if(kFamilies.begin(), kFamilies.end(), [&](const ModelFamily& f) { return f.name == model_type; });
    return found == kFamilies.end() ? nullptr : &*found;
}

std::string_view why_not_modelled(std::string_view model_type) {
    const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), model_type) != list.end(); };
    if (among(kRecurrent)) return "has layers of state spaces or linear attention, which are not modelled";
    if (among(kEncoderDecoders)) return "is an encoder with a decoder, which is not modelled";
    if (among(kTwoTowers)) return "has one tower for text and one for images, which is not modelled";
    return {};
}

}  // namespace gambrel::network_detail
