// A SQLite file that is only read: nothing is written beside it, whatever it holds, and a fault is an Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/base.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace gambrel::trace_detail {

class Row {
public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
    [[nodiscard]] bool known(int column) const;
    [[nodiscard]] bool is_text(int column) const;
    [[nodiscard]] std::int64_t integer(int column, std::int64_t otherwise = 0) const;
    [[nodiscard]] std::string_view text(int column) const;  // until the next row

private:
    sqlite3_stmt* statement_;
};

class Database {
public:
    static Result<Database> open(const std::string& path);
    // The bytes must live as long as the database.
    static Result<Database> from_bytes(std::string_view bytes, const std::string& source);

    // Tables of this name, with or without the suffix of a schema version (_V2); the copy that `nsys stats` makes
    // (_NAMED) only where there is no other. Views and virtual tables are left out.
    [[nodiscard]] std::vector<std::string> tables(std::string_view name) const;
    // Calls `row` for every row of a table with the columns in this order; one that the table lacks is unknown in all
    // rows. False: the table is damaged, and the rows before the damage were given.
    bool read(const std::string& table, const std::vector<std::string>& columns,
              const std::function<void(const Row&)>& row) const;

private:
    struct Close {
        void operator()(sqlite3* db) const;
    };
    static Result<Database> opened(sqlite3* db, int status, const std::string& source);
    std::unique_ptr<sqlite3, Close> db_;
};

// A file that ends before its header says so is refused as a whole. A copy with empty pages at its end can be read but
// for the tables that have one of them. Empty: nothing is missing, or nearly all.
std::string with_missing_pages(std::string_view bytes);

}  // namespace gambrel::trace_detail
