// sql/open.cc
//
// What is common to all engines. See database.h.
#include <dlfcn.h>
#include <fmt/format.h>

#include "sql/drivers.h"

namespace sluice::sql {

std::string_view engine_name(Engine engine) {
    switch (engine) {
        case Engine::Sqlite:
            return "SQLite";
        case Engine::Postgresql:
            return "PostgreSQL";
        case Engine::Mariadb:
            return "MariaDB";
    }
    return "";
}

Result<std::unique_ptr<Database>> open(const Target& target) {
    switch (target.engine) {
        case Engine::Sqlite:
            return open_sqlite_database(target);
        case Engine::Postgresql:
            return open_postgresql(target);
        case Engine::Mariadb:
            return open_mariadb(target);
    }
    return Error{ErrorCode::BadArgument, "unknown database engine"};
}

std::string quoted_name(std::string_view name) {
    std::string out = "\"";
    for (const char c : name) out.append(c == '"' ? 2 : 1, c);
    return out + '"';
}

Result<void> transact(Database& database, const std::function<Result<void>()>& work) {
    const auto once = [&]() -> Result<void> {
        TRY(database.begin());
        Result<void> done = work();
        if (done) done = database.commit();
        if (!done) database.rollback();
        return done;
    };
    Result<void> done = once();
    if (done || !database.is_lost()) return done;
    TRY(database.reconnect());
    return once();
}

std::string numbered_placeholders(std::string_view statement) {
    std::string out;
    int number = 0;
    std::size_t at = 0;
    const auto copy_until = [&](std::string_view end) {
        const std::size_t found = statement.find(end, at + 1);
        const std::size_t next =
            found == std::string_view::npos ? statement.size() : found + end.size();
        out += statement.substr(at, next - at);
        at = next;
    };
    while (at < statement.size()) {
        const char next = statement[at];
        if (next == '\'' || next == '"') {  // a doubled quote ends one text and begins the next
            copy_until(statement.substr(at, 1));
        } else if (statement.substr(at, 2) == "--") {
            copy_until("\n");
        } else if (next == '?') {
            out += fmt::format("${}", ++number);
            ++at;
        } else {
            out += next;
            ++at;
        }
    }
    return out;
}

Result<void*> load_library(const char* file, const char* package) {
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    return Error{ErrorCode::StoreFailed,
                 fmt::format("the library of the database cannot be loaded: {}; the package {} "
                             "has it",
                             dlerror(), package)};
}

Result<void> find_function(void* library, const char* name, void*& function) {
    function = dlsym(library, name);
    if (function) return {};
    return Error{ErrorCode::StoreFailed,
                 fmt::format("the library of the database has no {}", name)};
}

}  // namespace sluice::sql
