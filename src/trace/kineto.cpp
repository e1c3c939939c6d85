// The PyTorch profiler's JSON (Kineto), in one pass. Only the bytes of the values that are wanted are looked at.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/file_bytes.hpp"
#include "trace/event_windows.hpp"
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

// Counts the lists of events that it came to.
simdjson::error_code read_document(od::document& document, EventReader& reader, int& lists) {
    od::json_type type{};
    if (const auto fault = document.type().get(type); fault != simdjson::SUCCESS) return fault;
    if (type == od::json_type::array) {
        od::array list;
        if (const auto fault = document.get_array().get(list); fault != simdjson::SUCCESS) return fault;
        ++lists;
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
            ++lists;
            if (const auto fault = read_events(list, reader); fault != simdjson::SUCCESS) return fault;
        } else if (is_key(key, "deviceProperties")) {
            reader.devices(value);
        } else if (is_key(key, "distributedInfo")) {
            reader.distributed(value);
        }
    }
    return simdjson::SUCCESS;
}

simdjson::error_code parse(std::string_view padded, od::parser& parser, EventReader& reader, int& lists) {
    od::document document;
    const simdjson::padded_string_view view(padded.data(), padded.size(), padded.size() + FileBytes::kPadding);
    if (const auto fault = parser.iterate(view).get(document); fault != simdjson::SUCCESS) return fault;
    return read_document(document, reader, lists);
}

// Parses a long list of events in pieces, which takes less time and half of the memory: the parser notes the place of
// every comma and bracket, about as many bytes as the text has.
class Pieces {
public:
    Pieces(std::string_view text, EventReader& reader) : text_(text), reader_(reader) {}

    // False if any piece is not what it seemed, or anything in the text is damaged. What was read is then worth
    // nothing.
    bool parse(std::size_t window) {
        const auto list = event_list(text_);
        if (!list) return false;
        std::size_t at = list->begin;
        while (text_.size() - at > kLast * window) {
            auto end = end_of_event(text_, at + window, *list);
            if (!end) break;
            auto fault = piece(at, *end);
            for (int tries = 0; fault == simdjson::UNCLOSED_STRING && tries < kTries && end; ++tries)
                if ((end = end_of_event(text_, *end, *list))) fault = piece(at, *end);
            if (fault != simdjson::SUCCESS) return false;
            at = next_event(text_, *end);
        }
        // All that is not a piece, with the last events: a document like any other, but short.
        std::string rest(text_.substr(0, list->begin));
        rest.append(text_.substr(at));
        rest.reserve(rest.size() + FileBytes::kPadding);
        int lists = 0;  // 0: what is damaged before the list hides it
        const auto fault = trace_detail::parse(rest, parser_, reader_, lists);
        return fault == simdjson::SUCCESS && lists == 1 && reader_.broken() == 0;
    }

private:
    static constexpr std::size_t kLast = 4;  // windows that are not worth a cut
    static constexpr int kTries = 16;

    simdjson::error_code piece(std::size_t begin, std::size_t end) {
        buffer_.assign(1, '[');
        buffer_.append(text_.substr(begin, end - begin));
        buffer_ += ']';
        buffer_.reserve(buffer_.size() + FileBytes::kPadding);
        od::document document;
        const simdjson::padded_string_view view(buffer_.data(), buffer_.size(), buffer_.capacity());
        if (const auto fault = parser_.iterate(view).get(document); fault != simdjson::SUCCESS) return fault;
        od::array list;
        if (const auto fault = document.get_array().get(list); fault != simdjson::SUCCESS) return fault;
        if (const auto fault = read_events(list, reader_); fault != simdjson::SUCCESS) return fault;
        // A piece that ends inside an event, or behind the list, is closed by another bracket than its own.
        const bool whole = reader_.broken() == 0 && document.current_location().error() == simdjson::OUT_OF_BOUNDS;
        return whole ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
    }

    std::string_view text_;
    EventReader& reader_;
    od::parser parser_;
    std::string buffer_;
};

simdjson::error_code parse_fresh(std::string_view padded, const std::string& source, std::size_t window, Events& out) {
    const auto empty = [&] {
        out = Events{};
        out.source = source;
    };
    if (padded.size() > window) {
        empty();
        EventReader reader(out);
        if (Pieces(padded, reader).parse(window)) return reader.finish(), simdjson::SUCCESS;
    }
    empty();
    EventReader reader(out);
    od::parser parser;
    int lists = 0;
    const auto fault = parse(padded, parser, reader, lists);
    reader.finish();
    // What is damaged before the list may hide it from a parser that skips what nobody asks for.
    return fault == simdjson::SUCCESS && lists == 0 ? simdjson::TAPE_ERROR : fault;
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

Result<Events> read_kineto(std::string_view padded, const std::string& source, std::size_t window) {
    padded = without_mark(padded);
    Events out;
    std::string repaired;
    std::vector<std::string> repairs;
    auto fault = parse_fresh(padded, source, window, out);
    if (fault == simdjson::UTF8_ERROR || fault == simdjson::UNESCAPED_CHARS) {
        repaired = as_plain(padded);
        padded = with_padding(repaired);
        repairs.emplace_back(
            "holds bytes that are not UTF-8, or control characters: they stand as ? or space in names");
        fault = parse_fresh(padded, source, window, out);
    }
    const auto first_fault = fault;
    if (fault != simdjson::SUCCESS && is_empty(out)) {
        std::string closed = closed_after_last_event(padded);
        repaired = {};
        if (!closed.empty()) {
            fault = parse_fresh(with_padding(closed), source, window, out);
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
