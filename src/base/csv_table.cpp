#include "base/csv_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gambrel::base_detail {

namespace {

// No kernel name or rule text comes near this; it bounds what a stray quote can cost.
constexpr std::size_t kLongestField = std::size_t{1} << 20;
// ncu's widest page has a few thousand columns; a row of nothing but commas would take 17 times its size in memory.
constexpr std::size_t kMostFields = 100'000;

const char* find_byte(const char* from, const char* end, char byte) {
    return static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(end - from)));
}

// Most fields are a few digits, where a call of memchr costs more than the search: three words are searched in place.
const char* find_quote(const char* from, const char* end) {
    constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighs = 0x8080808080808080u;
    if constexpr (std::endian::native == std::endian::little) {
        for (int word = 0; word < 3 && end - from >= 8; ++word, from += 8) {
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, from, 8);
            bytes ^= kOnes * static_cast<unsigned char>('"');
            const std::uint64_t zeros = (bytes - kOnes) & ~bytes & kHighs;  // the lowest set bit is exact
            if (zeros != 0) return from + std::countr_zero(zeros) / 8;
        }
    }
    return find_byte(from, end, '"');
}

// A bit for each of 64 bytes that is a comma or a line end. Smaller blocks have so few fields that the processor often
// guesses wrongly how many, and each time loses what takes it 50 instructions.
constexpr std::ptrdiff_t kBlock = 64;
std::uint64_t stops_in(const char* block) {
    std::uint64_t stops = 0;
#if defined(__SSE2__)
    const __m128i comma = _mm_set1_epi8(','), end = _mm_set1_epi8('\n');
    for (int at = 0; at < kBlock; at += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
        const __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, comma), _mm_cmpeq_epi8(bytes, end));
        stops |= std::uint64_t{static_cast<std::uint16_t>(_mm_movemask_epi8(stop))} << at;
    }
#else
    for (int i = 0; i < kBlock; ++i) stops |= std::uint64_t{block[i] == ',' || block[i] == '\n'} << i;
#endif
    return stops;
}

// Whether a field that begins with it may be a formula or guarded against being one (base/csv_guard.hpp).
constexpr auto kMayBeGuarded = [] {
    std::array<bool, 256> may{};
    for (const char c : {'=', '+', '-', '@', '\''}) may[static_cast<unsigned char>(c)] = true;
    return may;
}();

// Reads fields without quotes up to the end of the record or to a field that begins with a quote: where that is, or
// null if there are too many. Most are a few digits, so that the ends of all in a block are looked for at once.
const char* read_plain_fields(CsvRow& row, const char* start, const char* end) {
    bool guarded = false;
    // Whether these fields end here.
    const auto ends_at = [&](const char* stop) {
        guarded |= kMayBeGuarded[static_cast<unsigned char>(*start)];
        row.fields.emplace_back(start, static_cast<std::size_t>(stop - start));
        start = *stop == '\n' ? stop : stop + 1;
        return *stop == '\n' || (start < end && *start == '"');
    };
    const auto all = [&]() -> const char* {
        const char* at = start;
        for (; end - at >= kBlock && row.fields.size() + kBlock <= kMostFields; at += kBlock)
            for (std::uint64_t stops = stops_in(at); stops != 0; stops &= stops - 1)
                if (ends_at(at + std::countr_zero(stops))) return start;
        for (; at < end && row.fields.size() <= kMostFields; ++at)
            if ((*at == ',' || *at == '\n') && ends_at(at)) return start;
        if (at < end) return nullptr;
        row.fields.emplace_back(start, static_cast<std::size_t>(end - start));
        guarded |= start < end && kMayBeGuarded[static_cast<unsigned char>(*start)];
        return end;
    };
    const char* const stopped = all();
    if (guarded) row.canonical = false;
    return row.fields.size() <= kMostFields + 1 ? stopped : nullptr;
}

// There are few or none.
std::size_t quotes_in(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) ++count;
    return count;
}

// Of a quoted field as it stands between its quotes.
bool needs_quotes(std::string_view field) {
    return field.find_first_of(",\"") != std::string_view::npos &&
           !kMayBeGuarded[static_cast<unsigned char>(field.front())];
}

struct Quoted {
    const char* close = nullptr;  // the closing quote; null if there is none
    bool doubled = false;
};

Quoted close_of(const char* open, const char* end) {
    Quoted result;
    const char* limit = end - open > static_cast<std::ptrdiff_t>(kLongestField) ? open + kLongestField : end;
    const char* at = open + 1;
    while ((at = find_quote(at, limit)) != nullptr) {
        if (at + 1 == end || at[1] != '"') {
            result.close = at;
            return result;
        }
        result.doubled = true;
        at += 2;
        if (at >= limit) break;
    }
    return result;
}

std::string_view undoubled(std::string_view field, std::deque<std::string>& storage) {
    std::string& text = storage.emplace_back();
    text.reserve(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
        text += field[i];
        if (field[i] == '"') ++i;
    }
    return text;
}

}  // namespace

std::string_view CsvScanner::line() const {
    const std::string_view from = rest();
    const std::size_t end = std::min(from.find('\n'), from.size());
    std::string_view line = from.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

void CsvScanner::skip_line() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
}

bool CsvScanner::read_fields(CsvRow& row, std::size_t from, std::size_t mark_column) {
    const char* const begin = text_.data();
    const char* const end = begin + text_.size();
    const char *at = begin + from, *last = at;
    std::size_t quotes = 0;  // around and inside of the quoted fields
    for (;;) {
        if (row.fields.size() > kMostFields) return false;
        if (at == end || *at != '"') {
            const std::size_t first = row.fields.size();
            at = read_plain_fields(row, at, end);
            if (at == nullptr) return false;
            if (first <= mark_column && mark_column < row.fields.size())
                row.mark = static_cast<std::size_t>(row.fields[mark_column].data() - begin);
            if (at < end && *at == '"') continue;
            if (row.fields.back().ends_with('\r')) row.fields.back().remove_suffix(1);
            last = row.fields.back().data() + row.fields.back().size();
            break;
        }
        if (row.fields.size() == mark_column) row.mark = static_cast<std::size_t>(at - begin);
        const auto [close, doubled] = close_of(at, end);
        if (close == nullptr) return false;
        const std::string_view field(at + 1, static_cast<std::size_t>(close - at - 1));
        row.fields.push_back(doubled ? undoubled(field, row.unescaped) : field);
        quotes += 2 + (doubled ? quotes_in(field) : 0);
        if (!needs_quotes(field)) row.canonical = false;
        last = at = close + 1;
        if (at < end && *at == '\r' && (at + 1 == end || at[1] == '\n')) ++at;
        if (at == end || *at == '\n') break;
        if (*at != ',') return false;
        ++at;
    }
    at_ = static_cast<std::size_t>(at - begin) + (at == end ? 0 : 1);
    row.text = {begin + row.begin, static_cast<std::size_t>(last - begin) - row.begin};
    // Quotes inside of a field that does not begin with one.
    if (row.canonical && quotes_in(row.text) != quotes) row.canonical = false;
    return true;
}

bool CsvScanner::read(CsvRow& row, std::size_t mark_column) {
    row.fields.clear();
    row.unescaped.clear();
    row.begin = at_;
    row.mark = 0;
    row.canonical = true;
    return read_fields(row, at_, mark_column);
}

bool CsvScanner::read_after(CsvRow& row, std::size_t columns, std::size_t bytes) {
    row.fields.resize(columns);
    row.begin = at_;
    row.mark = at_ + bytes;
    row.canonical = false;
    return read_fields(row, at_ + bytes, columns);
}

std::size_t CsvScanner::line_number(std::size_t position) {
    position = std::min(position, text_.size());
    if (position > counted_to_) {
        lines_ += static_cast<std::size_t>(std::count(text_.data() + counted_to_, text_.data() + position, '\n'));
        counted_to_ = position;
    }
    return lines_;
}

std::size_t CsvHeader::find(std::string_view column) const {
    const auto it = std::find(columns.begin(), columns.end(), column);
    return it == columns.end() ? npos : static_cast<std::size_t>(it - columns.begin());
}

std::optional<CsvHeader> header_in_line(std::string_view text, std::size_t line_begin, const AcceptHeader& accept) {
    const std::size_t line_end = std::min(text.find('\n', line_begin), text.size());
    const std::string_view up_to_end = text.substr(0, line_end);
    // A progress bar may have left its line open; the header then begins at one of the first quotes of the line.
    std::size_t at = line_begin;
    for (int tries = 0; tries < 8 && at < line_end; ++tries) {
        CsvScanner scanner(up_to_end, at);
        CsvRow row;
        if (scanner.read(row) && row.fields.size() > 1) {
            CsvHeader header{
                {row.fields.begin(), row.fields.end()}, at, std::min(line_end + 1, text.size()), text[at] == '"'};
            if (accept(header)) return header;
        }
        at = std::min(up_to_end.find('"', at + 1), line_end);
    }
    return std::nullopt;
}

std::optional<CsvHeader> find_header(std::string_view text, std::size_t from, std::string_view needle,
                                     const AcceptHeader& accept) {
    for (std::size_t hit = text.find(needle, from); hit != std::string_view::npos;) {
        const std::size_t before = hit == 0 ? std::string_view::npos : text.rfind('\n', hit - 1);
        const std::size_t line_begin = std::max(from, before == std::string_view::npos ? 0 : before + 1);
        if (auto header = header_in_line(text, line_begin, accept)) return header;
        const std::size_t line_end = text.find('\n', hit);
        hit = line_end == std::string_view::npos ? line_end : text.find(needle, line_end);
    }
    return std::nullopt;
}

std::string_view without_bom(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return text;
}

bool looks_binary(std::string_view text) { return text.substr(0, 4096).find('\0') != std::string_view::npos; }

}  // namespace gambrel::base_detail
