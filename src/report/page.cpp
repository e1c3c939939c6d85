#include <gambrel/report.hpp>

#include <algorithm>

#include "base/embedded.hpp"
#include "chart/text.hpp"
#include "report/json_values.hpp"
#include "report/page_json.hpp"

namespace gambrel {
namespace {

using namespace chart_detail;
using namespace report_detail;

std::string_view part(std::string_view name) {
    for (const auto& file : embedded("page"))
        if (file.name == name) return file.text;
    return {};
}

// The page's policy lets only this script and this style run, by their hashes: a name that got into the markup could do
// nothing. Hashes are embedded in hexadecimal; a policy wants them in base64.
std::string base64(std::string_view hex) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto nibble = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
    std::string out;
    // Three bytes are six digits of the one and four of the other.
    for (std::size_t i = 0; i < hex.size(); i += 6) {
        const std::string_view group = hex.substr(i, 6);
        unsigned bits = 0;
        for (std::size_t k = 0; k < 6; ++k) bits = bits << 4 | (k < group.size() ? nibble(group[k]) : 0);
        for (std::size_t k = 0; k < 4; ++k) out += k <= group.size() / 2 ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

// Inside <script> HTML knows no escapes, but JSON does: with these three spelled out, no name can end the element.
std::string safe_in_script(std::string_view json) {
    std::string out;
    out.reserve(json.size() + json.size() / 16);
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else if (c == '>')
            out += "\\u003e";
        else if (c == '&')
            out += "\\u0026";
        else
            out += c;
    }
    return out;
}

std::string safe_in_text(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else
            out += c;
    }
    return out;
}

}  // namespace

Result<std::string> html_page(const PageInput& input) {
    if (part("page").empty())
        return failure("html",
                       "this build has no page: configure with GAMBREL_PAGE=ON, or write an .svg, .json or .csv");
    nlohmann::ordered_json document = page_document(input);
    const auto computes = [](const auto& view) { return view.contains("model"); };
    const bool has_model = std::any_of(document["views"].begin(), document["views"].end(), computes);
    // Compressed and in base64; empty in a build without the compiler for it, and the page says so.
    if (has_model) document["module"] = part("model"), document["catalogue"] = page_catalogue();
    const std::string data = safe_in_script(dumped(document, -1));
    std::string out;
    out.reserve(data.size() + 400000);
    std::string_view shell = part("shell");
    // The shell is a file of this repository; each mark stands in it once, in this order.
    const auto fill = [&](std::string_view mark, std::string_view text) {
        const auto at = shell.find(mark);
        out += shell.substr(0, at);
        out += text;
        shell.remove_prefix(at + mark.size());
    };
    fill("{{script_hash}}", base64(part("page.sha256")));
    fill("{{wasm}}", has_model && !part("model").empty() ? " 'wasm-unsafe-eval'" : "");
    fill("{{style_hash}}", base64(part("style.sha256")));
    fill("{{title}}", safe_in_text(input.title));
    fill("{{style}}", part("style")), fill("{{data}}", data), fill("{{script}}", part("page"));
    out += shell;
    return out;
}

}  // namespace gambrel
