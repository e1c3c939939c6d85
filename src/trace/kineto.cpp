// The PyTorch profiler's JSON (Kineto), in one pass. Only the bytes of the values that are wanted are looked at.
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/file_bytes.hpp"
#include "trace/events.hpp"
#include "trace/json_token.hpp"
#include "trace/kineto_event.hpp"

namespace gambrel::trace_detail {
namespace {

namespace od = simdjson::ondemand;
using base_detail::FileBytes;
static_assert(FileBytes::kPadding >= simdjson::SIMDJSON_PADDING);

simdjson::error_code read_events(od::array list, EventReader& reader) {
    for (auto item : list) {
        od::object object;
        if (const auto fault = item.get_object().get(object); fault == simdjson::INCORRECT_TYPE)
            continue;
        else if (fault != simdjson::SUCCESS)
            return fault;
        reader.event(object);
    }
    return simdjson::SUCCESS;
}

simdjson::error_code read_document(od::document& document, EventReader& reader) {
    od::json_type type{};
    if (const auto fault = document.type().get(type); fault != simdjson::SUCCESS) return fault;
    if (type == od::json_type::array) {
        od::array list;
        if (const auto fault = document.get_array().get(list); fault != simdjson::SUCCESS) return fault;
        return read_events(list, reader);
    }
    od::object object;
    if (const auto fault = document.get_object().get(object); fault != simdjson::SUCCESS) return fault;
    for (auto field : object) {
        od::field entry;
        if (const auto fault = std::move(field).get(entry); fault != simdjson::SUCCESS) return fault;
        const char* key = entry.key().raw();
        od::value value = entry.value();
        if (is_key(key, "traceEvents")) {
            od::array list;
            if (const auto fault = value.get_array().get(list); fault != simdjson::SUCCESS) return fault;
            if (const auto fault = read_events(list, reader); fault != simdjson::SUCCESS) return fault;
        } else if (is_key(key, "deviceProperties")) {
            reader.devices(value);
        } else if (is_key(key, "distributedInfo")) {
            reader.distributed(value);
        }
    }
    return simdjson::SUCCESS;
}

simdjson::error_code parse(std::string_view padded, Events& out) {
    od::parser parser;
    od::document document;
    const simdjson::padded_string_view view(padded.data(), padded.size(), padded.size() + FileBytes::kPadding);
    if (const auto fault = parser.iterate(view).get(document); fault != simdjson::SUCCESS) return fault;
    EventReader reader(out);
    const auto fault = read_document(document, reader);
    reader.finish();
    return fault;
}

simdjson::error_code parse_fresh(std::string_view padded, const std::string& source, Events& out) {
    out = Events{};
    out.source = source;
    return parse(padded, out);
}

// Editors of Windows put a mark before UTF-8.
std::string_view without_mark(std::string_view bytes) {
    return bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
}

std::string_view with_padding(std::string& text) {
    text.reserve(text.size() + FileBytes::kPadding);
    return text;
}

bool is_empty(const Events& e) { return e.gpu.empty() && e.host.empty() && e.calls.empty(); }

}  // namespace

bool is_trace_head(std::string_view head) {
    head = without_mark(head);
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] != '{') return false;
    // What the PyTorch profiler writes before the events; results of gambrel begin with their schema.
    for (const std::string_view key : {"\"schemaVersion\"", "\"deviceProperties\"", "\"distributedInfo\"",
                                       "\"displayTimeUnit\"", "\"baseTimeNanoseconds\"", "\"cuda_runtime_version\""})
        if (head.find(key) != std::string_view::npos) return true;
    return false;
}

bool is_kineto(std::string_view bytes) {
    const auto head = without_mark(bytes).substr(0, std::size_t{1} << 16);
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    if (head[first] == '[') {
        const auto next = head.find_first_not_of(" \t\r\n", first + 1);
        return next != std::string_view::npos && head[next] == '{' && head.find("\"ph\"") != std::string_view::npos;
    }
    if (head[first] != '{') return false;
    if (head.find("\"traceEvents\"") != std::string_view::npos) return true;
    // Metadata before the events may be long: a stack, an environment.
    constexpr std::string_view kEvents = "\"traceEvents\"";
    return is_trace_head(head) && ::memmem(bytes.data(), bytes.size(), kEvents.data(), kEvents.size()) != nullptr;
}

Result<Events> read_kineto(std::string_view padded, const std::string& source) {
    padded = without_mark(padded);
    Events out;
    std::string repaired;
    std::vector<std::string> repairs;
    auto fault = parse_fresh(padded, source, out);
    if (fault == simdjson::UTF8_ERROR || fault == simdjson::UNESCAPED_CHARS) {
        repaired = as_plain(padded);
        padded = with_padding(repaired);
        repairs.emplace_back(
            "holds bytes that are not UTF-8, or control characters: they stand as ? or space in names");
        fault = parse_fresh(padded, source, out);
    }
    const auto first_fault = fault;
    if (fault != simdjson::SUCCESS && is_empty(out)) {
        std::string closed = closed_after_last_event(padded);
        repaired = {};
        if (!closed.empty()) {
            fault = parse_fresh(with_padding(closed), source, out);
            if (fault == simdjson::SUCCESS) fault = first_fault;
        }
        if (is_empty(out))
            return failure(source, fmt::format("is not a trace that can be read: {}", simdjson::error_message(fault)));
    }
    for (auto& what : repairs) out.notes.push_back({source, std::move(what)});
    if (fault != simdjson::SUCCESS) {
        out.partial = true;
        out.notes.push_back(
            {source, fmt::format("is cut short or damaged ({}): {} events before that were read",
                                 simdjson::error_message(fault), out.gpu.size() + out.host.size() + out.calls.size())});
    }
    return out;
}

}  // namespace gambrel::trace_detail
