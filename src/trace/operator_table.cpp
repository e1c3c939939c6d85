#include "trace/operator_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/embedded.hpp"
#include "base/file_bytes.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"

namespace gambrel::trace_detail {
namespace {

using base_detail::Fields;
using Json = nlohmann::json;

constexpr std::array<std::string_view, 9> kWrites = {"broadcast", "first",  "reduce", "list", "pool",
                                                     "size",      "gather", "grid",   "none"};
constexpr std::array<std::string_view, 6> kKinds = {"stream", "gemm", "convolution", "attention", "grouped", "experts"};

std::vector<int> numbers(const Json& list, Fields& fields, const std::string& key) {
    std::vector<int> out;
    for (const Json& v : list) {
        if (v.is_number_integer() && v.get<std::int64_t>() >= 0 && v.get<std::int64_t>() < 64)
            out.push_back(v.get<int>());
        else
            fields.fault(key, "expected numbers of arguments from 0 to 63");
    }
    return out;
}

StreamRule stream_of(Fields& fields) {
    StreamRule out;
    if (const Json* read = fields.array("read")) out.read = numbers(*read, fields, "read");
    if (const Json* write = fields.any("write")) {
        if (write->is_array()) {
            out.write_arguments = numbers(*write, fields, "write");
        } else if (write->is_string() &&
                   std::find(kWrites.begin(), kWrites.end(), write->get<std::string>()) != kWrites.end()) {
            out.write = write->get<std::string>();
        } else {
            fields.fault("write",
                         "expected a list of arguments, or one of broadcast, first, reduce, list, pool, size, "
                         "gather, grid, none");
        }
    }
    out.flop = fields.amount("flop").value_or(0);
    out.out_type = fields.text("out_type");
    return out;
}

OperatorRule rule_of(const Json& object, const std::string& path, Errors& errors, std::vector<std::string>& names) {
    Fields fields(object, path, errors);
    OperatorRule rule;
    names = fields.texts("names");
    if (names.empty()) fields.fault("names", "expected the names of operators");
    const std::string kind = fields.text("rule", true);
    const auto it = std::find(kKinds.begin(), kKinds.end(), kind);
    if (it == kKinds.end())
        fields.fault(
            "rule",
            fmt::format("\"{}\" found, expected stream, gemm, convolution, attention, grouped or experts", kind));
    else
        rule.kind = static_cast<OperatorRule::Kind>(it - kKinds.begin());
    rule.stream = stream_of(fields);
    if (const Json* at = fields.object("arguments"))
        for (const auto& [name, position] : at->items()) {
            if (position.is_number_integer() && position.get<std::int64_t>() >= 0 && position.get<std::int64_t>() < 64)
                rule.at[name] = position.get<int>();
            else
                fields.fault("arguments." + name, "expected the number of an argument");
        }
    if (const std::string pass = fields.text("pass"); !pass.empty()) rule.pass = pass;
    if (const std::string layout = fields.text("layout"); !layout.empty()) rule.layout = layout;
    if (const Json* transposed = fields.any("b_transposed"))
        rule.b_transposed = transposed->is_boolean() && transposed->get<bool>();
    if (const auto packed = fields.amount("b_packed")) rule.b_packed = static_cast<int>(std::min(16.0, *packed));
    if (const Json* kernels = fields.array("kernels"))
        for (std::size_t i = 0; i < kernels->size(); ++i) {
            Fields kernel((*kernels)[i], fmt::format("{}.kernels[{}]", path, i), errors);
            const std::string part = kernel.text("name", true);
            rule.kernels.emplace_back(part, stream_of(kernel));
            kernel.text("note");
            kernel.finish();
        }
    fields.text("note");
    fields.finish();
    return rule;
}

}  // namespace

void OperatorTable::add(std::string_view text, const std::string& source, Errors& errors) {
    auto document = base_detail::parse_json(text, source);
    if (!document) return void(errors.insert(errors.end(), document.error().begin(), document.error().end()));
    Fields fields(*document, source + ": ", errors);
    if (fields.text("schema", true) != "gambrel-operators-1")
        fields.fault("schema", "expected \"gambrel-operators-1\"");
    fields.text("note");
    for (auto& name : fields.texts("communication")) communication_.push_back(std::move(name));
    if (const Json* words = fields.object("fused_words"))
        for (const auto& [word, flop] : words->items())
            if (flop.is_number()) words_[word] = flop.get<double>();
    if (const Json* list = fields.array("operators"))
        for (std::size_t i = 0; i < list->size(); ++i) {
            std::vector<std::string> names;
            rules_.push_back(rule_of((*list)[i], fmt::format("{}: operators[{}]", source, i), errors, names));
            for (auto& name : names) {
                if (name.ends_with('*'))
                    by_prefix_.emplace_back(name.substr(0, name.size() - 1), rules_.size() - 1);
                else
                    by_name_[name] = rules_.size() - 1;
            }
        }
    fields.finish();
}

Result<OperatorTable> OperatorTable::load(const std::vector<std::string>& files) {
    OperatorTable out;
    Errors errors;
    for (const EmbeddedText& table : embedded("operators")) out.add(table.text, std::string(table.name), errors);
    for (const auto& file : files) {
        const auto bytes = base_detail::FileBytes::open(file);
        if (bytes)
            out.add(bytes->view(), file, errors);
        else
            errors.insert(errors.end(), bytes.error().begin(), bytes.error().end());
    }
    if (!errors.empty()) return tl::unexpected(std::move(errors));
    return out;
}

const OperatorRule* OperatorTable::find(std::string_view op) const {
    if (const auto it = by_name_.find(std::string(op)); it != by_name_.end()) return &rules_[it->second];
    for (auto it = by_prefix_.rbegin(); it != by_prefix_.rend(); ++it)
        if (op.starts_with(it->first)) return &rules_[it->second];
    return nullptr;
}

bool OperatorTable::is_communication(std::string_view kernel) const {
    return std::any_of(communication_.begin(), communication_.end(),
                       [&](const std::string& part) { return kernel.find(part) != std::string_view::npos; });
}

double OperatorTable::flop_of_word(std::string_view word) const {
    const auto it = words_.find(std::string(word));
    return it == words_.end() ? 0 : it->second;
}

}  // namespace gambrel::trace_detail
