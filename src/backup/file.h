// backup/file.h
//
// A backup as a file: a line with its version, then records, then a checksum of all before it. Each
// record has a length and a kind. Rows are those of the tables, whichever engine they come from.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sql/database.h"

struct evp_md_ctx_st;

namespace sluice::backup {

// What the tables do not say: names and values, see copy.h.
using Facts = std::map<std::string, std::string>;

struct TableStart {        // the rows that follow are of this table
    std::string database;  // "state" or "accounting"
    std::string name;
    std::vector<std::string> columns;
};

// SHA-256 of what was added.
class Checksum {
public:
    Checksum();
    void add(std::string_view bytes);
    std::string take();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Written under another name; it exists under its own one when finish() has succeeded.
class BackupWriter {
public:
    static Result<BackupWriter> create(const std::string& path);
    BackupWriter(BackupWriter&&) = default;
    ~BackupWriter();

    Result<void> facts(const Facts& facts);
    Result<void> table(const TableStart& table);
    Result<void> row(const sql::Row& row);
    Result<void> finish();
    std::uint64_t rows() const { return rows_; }

private:
    BackupWriter(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
    Result<void> record(char kind, std::string_view content);
    Result<void> write(std::string_view bytes);
    std::string fresh() const { return path_ + ".new"; }

    std::string path_;
    File file_;
    Checksum checksum_;
    std::uint64_t rows_ = 0;
    bool is_done_ = false;
};

struct End {};
using Record = std::variant<Facts, TableStart, sql::Row, End>;

class BackupReader {
public:
    static Result<BackupReader> open(const std::string& path);
    // The next record. Each is checked for its form; End only if the checksum is right and nothing
    // follows.
    Result<Record> next();

private:
    BackupReader(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
    Result<std::string> read(std::size_t size);
    Error damaged(std::string_view why) const;

    std::string path_;
    File file_;
    Checksum checksum_;
};

}  // namespace sluice::backup
