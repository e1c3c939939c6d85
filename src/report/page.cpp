#include <gambrel/page.hpp>

#include "report/json_values.hpp"
#include "report/page_json.hpp"
#include "report/text.hpp"
#include "base/embedded.hpp"

namespace gambrel {
namespace {

using namespace report_detail;

std::string_view part(std::string_view name) {
    for (const auto& file : embedded("page"))
        if (file.name == name) return file.text;
    return {};
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

std::string html_page(const PageInput& input) {
    const std::string data = safe_in_script(dumped(page_json(input), -1));
    std::string out;
    out.reserve(data.size() + 400000);
    std::string_view shell = part("shell");
    // The shell is our own file; each mark stands in it once.
    const auto until = [&](std::string_view mark) {
        const auto at = shell.find(mark);
        out += shell.substr(0, at);
        shell.remove_prefix(at + mark.size());
    };
    until("{{title}}"), out += safe_in_text(input.title);
    until("{{style}}"), out += part("style");
    until("{{data}}"), out += data;
    until("{{script}}"), out += part("page");
    out += shell;
    return out;
}

}  // namespace gambrel
