#include "trace/sqlite.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <sqlite3.h>

namespace gambrel::trace_detail {
namespace {

constexpr int kLongestText = 1 << 26;

std::string identifier(std::string_view name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string uri_of(const std::string& path) {
    std::string out = path.starts_with('/') ? "file://" : "file:";
    for (const char c : path) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                           c == '.' || c == '_' || c == '-';
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out + "?mode=ro&immutable=1";
}

std::string literal(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + '\'';
}

struct Statement {
    sqlite3_stmt* handle = nullptr;
    Statement(sqlite3* db, const std::string& sql) {
        sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &handle, nullptr);
    }
    ~Statement() { sqlite3_finalize(handle); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
};

bool is_version(std::string_view suffix) {
    return suffix.empty() || (suffix.starts_with("_V") && suffix.size() > 2 &&
                              suffix.substr(2).find_first_not_of("0123456789") == std::string_view::npos);
}

}  // namespace

std::string with_missing_pages(std::string_view bytes) {
    constexpr std::size_t kHeader = 100, kPageSize = 16, kPages = 28;
    if (bytes.size() < kHeader) return {};
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(bytes[i])}; };
    std::size_t page = (byte(kPageSize) << 8U) | byte(kPageSize + 1);
    if (page == 1) page = 65536;
    std::size_t pages = 0;
    for (std::size_t i = 0; i < 4; ++i) pages = (pages << 8U) | byte(kPages + i);
    if (page < 512 || pages * page <= bytes.size()) return {};
    // Pages of zeros are no pages of a table: what needs them is damaged, the rest is not. A header that claims much
    // more than there is claims nothing.
    constexpr std::size_t kMostTimes = 64, kFree = std::size_t{1} << 26;
    const std::size_t claimed = pages * page;
    if (claimed > kFree && claimed / kMostTimes > bytes.size()) return {};
    std::string out(bytes);
    out.resize(claimed, '\0');
    return out;
}

bool Row::known(int column) const { return sqlite3_column_type(statement_, column) != SQLITE_NULL; }
std::int64_t Row::integer(int column, std::int64_t otherwise) const {
    return known(column) ? sqlite3_column_int64(statement_, column) : otherwise;
}
bool Row::is_text(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_TEXT; }
std::string_view Row::text(int column) const {
    if (!known(column)) return {};
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? std::string_view{}
                           : std::string_view{text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Result<Database> Database::opened(sqlite3* db, int status, const std::string& source) {
    Database out;
    out.db_.reset(db);
    if (status != SQLITE_OK || db == nullptr)
        return failure(source, fmt::format("cannot be opened as SQLite: {}", sqlite3_errstr(status)));
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestText);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_exec(db, "PRAGMA temp_store=MEMORY", nullptr, nullptr, nullptr);
    // The first statement is what reads the header.
    const Statement first(db, "SELECT count(*) FROM sqlite_master");
    if (first.handle == nullptr || sqlite3_step(first.handle) != SQLITE_ROW)
        return failure(source,
                       fmt::format("cannot be read as SQLite: {}; was the export interrupted?", sqlite3_errmsg(db)));
    return out;
}

Result<Database> Database::open(const std::string& path) {
    sqlite3* db = nullptr;
    const int status = sqlite3_open_v2(uri_of(path).c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    return opened(db, status, path);
}

Result<Database> Database::from_bytes(std::string_view bytes, const std::string& source) {
    sqlite3* db = nullptr;
    int status = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
    if (status == SQLITE_OK) {
        // SQLite takes a pointer that is not const for databases that may be changed; this one may not.
        auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
        const auto size = static_cast<sqlite3_int64>(bytes.size());
        status = sqlite3_deserialize(db, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
    }
    return opened(db, status, source);
}

std::vector<std::string> Database::tables(std::string_view name) const {
    std::vector<std::string> out, named;
    const Statement all(db_.get(), "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0");
    while (all.handle != nullptr && sqlite3_step(all.handle) == SQLITE_ROW) {
        const std::string_view table = Row(all.handle).text(0);
        if (!table.starts_with(name)) continue;
        if (is_version(table.substr(name.size()))) out.emplace_back(table);
        if (table.substr(name.size()) == "_NAMED") named.emplace_back(table);
    }
    std::sort(out.begin(), out.end());
    return out.empty() ? named : out;
}

bool Database::read(const std::string& table, const std::vector<std::string>& columns,
                    const std::function<void(const Row&)>& row) const {
    std::vector<std::string> existing;
    {
        const Statement info(db_.get(), "SELECT name FROM pragma_table_info(" + literal(table) + ")");
        while (info.handle != nullptr && sqlite3_step(info.handle) == SQLITE_ROW)
            existing.emplace_back(Row(info.handle).text(0));
    }
    std::string list;
    for (const auto& column : columns) {
        const bool has = std::find(existing.begin(), existing.end(), column) != existing.end();
        list += (list.empty() ? "" : ", ") + (has ? identifier(column) : "NULL");
    }
    const Statement rows(db_.get(), "SELECT " + list + " FROM " + identifier(table));
    if (rows.handle == nullptr) return false;
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(rows.handle)) == SQLITE_ROW) row(Row(rows.handle));
    return status == SQLITE_DONE;
}

}  // namespace gambrel::trace_detail
