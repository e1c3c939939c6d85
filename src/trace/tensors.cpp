#include "trace/tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gambrel::trace_detail {
namespace {

constexpr std::int64_t kMostValue = std::int64_t{1} << 50;  // of an argument: more is not a size

struct TypeFacts {
    std::string_view name;
    double size;
    std::optional<Precision> precision;
};
constexpr std::array<TypeFacts, 22> kTypes = {{
    {"float", 4, Precision::fp32},
    {"double", 8, Precision::fp64},
    {"c10::Half", 2, Precision::fp16},
    {"c10::BFloat16", 2, Precision::bf16},
    {"c10::Float8_e4m3fn", 1, Precision::fp8},
    {"c10::Float8_e5m2", 1, Precision::fp8},
    {"c10::Float8_e4m3fnuz", 1, Precision::fp8},
    {"c10::Float8_e5m2fnuz", 1, Precision::fp8},
    {"c10::Float8_e8m0fnu", 1, {}},
    {"long int", 8, {}},
    {"long", 8, {}},
    {"int", 4, {}},
    {"short int", 2, {}},
    {"unsigned short", 2, {}},
    {"unsigned int", 4, {}},
    {"unsigned long", 8, {}},
    {"bool", 1, {}},
    {"unsigned char", 1, Precision::int8},
    {"signed char", 1, Precision::int8},
    {"c10::complex<float>", 8, {}},
    {"c10::complex<double>", 16, {}},
    {"c10::Float4_e2m1fn_x2", 1, {}},
}};

const TypeFacts* facts_of(std::string_view type) {
    const auto* it = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeFacts& t) { return t.name == type; });
    return it == kTypes.end() ? nullptr : it;
}

}  // namespace

std::optional<double> type_size(std::string_view type) {
    const TypeFacts* facts = facts_of(type);
    return facts ? std::optional(facts->size) : std::nullopt;
}

std::optional<Precision> precision_of(std::string_view type) {
    const TypeFacts* facts = facts_of(type);
    return facts ? facts->precision : std::nullopt;
}

std::optional<Precision> precision_in_kernel(std::string_view kernel) {
    for (const std::string_view word : {"BFloat16", "bfloat16", "bf16"})
        if (has(kernel, word)) return Precision::bf16;
    for (const std::string_view word :
         {"c10::Half", "__half", "half", "fp16", "f16f16", "_f16_", "h884", "h1688", "h161616"})
        if (has(kernel, word)) return Precision::fp16;
    for (const std::string_view word : {"double", "dgemm", "f64"})
        if (has(kernel, word)) return Precision::fp64;
    for (const std::string_view word : {"float", "sgemm", "scudnn", "f32", "s1688"})
        if (has(kernel, word)) return Precision::fp32;
    return std::nullopt;
}

std::optional<double> type_size_in_kernel(std::string_view kernel) {
    if (const auto at = kernel.find("OpaqueType<"); at != std::string_view::npos) {
        double size = 0;
        for (std::size_t i = at + 11; i < kernel.size() && kernel[i] >= '0' && kernel[i] <= '9'; ++i)
            size = size * 10 + (kernel[i] - '0');
        if (size > 0 && size <= 16) return size;
    }
    if (const auto precision = precision_in_kernel(kernel)) return element_size(*precision).value();
    if (has(kernel, "<bool")) return 1;
    if (has(kernel, "<long")) return 8;
    if (has(kernel, "<int")) return 4;
    return std::nullopt;
}

double elements(const OperatorInput::Dims& dims) {
    double product = 1;
    for (const std::int64_t d : dims) product *= static_cast<double>(std::max<std::int64_t>(0, d));
    return product;
}

double stored_elements(const OperatorInput& input, std::size_t tensor) {
    const auto& dims = input.tensors[tensor];
    if (tensor >= input.strides.size() || input.strides[tensor].size() != dims.size()) return elements(dims);
    double product = 1;
    for (std::size_t i = 0; i < dims.size(); ++i)
        if (input.strides[tensor][i] != 0) product *= static_cast<double>(std::max<std::int64_t>(0, dims[i]));
    return product;
}

double elements(const OperatorInput& input) {
    double sum = 0;
    for (const auto& dims : input.tensors) sum += elements(dims);
    return sum;
}

double stored_elements(const OperatorInput& input) {
    double sum = 0;
    for (std::size_t i = 0; i < input.tensors.size(); ++i) sum += stored_elements(input, i);
    return sum;
}

OperatorInput::Dims broadcast(const OperatorInput::Dims& a, const OperatorInput::Dims& b) {
    OperatorInput::Dims out(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
        out[out.size() - 1 - i] = x == 1 ? y : y == 1 ? x : std::max(x, y);
    }
    return out;
}

OperatorInput::Dims numbers_in(std::string_view value) {
    OperatorInput::Dims out;
    const char* at = value.data();
    const char* const end = at + value.size();
    while (at != end) {
        if (*at == '[' || *at == ']' || *at == ',' || *at == ' ') {
            ++at;
            continue;
        }
        std::int64_t number = 0;
        const auto [stop, fault] = std::from_chars(at, end, number);
        if (fault != std::errc{}) return {};
        out.push_back(std::clamp(number, -kMostValue, kMostValue));
        at = stop;
    }
    return out;
}

bool is_true(std::string_view value) { return value == "True" || value == "true" || value == "1"; }

}  // namespace gambrel::trace_detail
