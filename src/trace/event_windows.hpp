// Where a list of events can be cut, so that a trace is parsed a piece at a time in memory that stays in the cache.
// What is found is a guess that the parse of each piece confirms: text inside a string may look like the end of an
// event.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gambrel::trace_detail {

struct EventList {
    std::size_t begin = 0;    // of the first event
    std::string_view indent;  // white space before it on its line
};
// Of a document that is the list, or an object that has it as traceEvents; absent where it is not found near the start.
std::optional<EventList> event_list(std::string_view text);
// Behind the first event that seems to end at or after `from`; absent if none does before the text ends.
std::optional<std::size_t> end_of_event(std::string_view text, std::size_t from, const EventList& list);
// The next event after the comma behind `end`.
std::size_t next_event(std::string_view text, std::size_t end);

}  // namespace gambrel::trace_detail
