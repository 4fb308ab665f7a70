// sql/drivers.h
//
// The engines behind database.h, and what the drivers share.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/errors.h"
#include "sql/database.h"

namespace sluice::sql {

Result<std::unique_ptr<Database>> open_sqlite_database(const Target& target);
// The client libraries of these two are loaded when the first connection is made, so that no
// program depends on them otherwise.
Result<std::unique_ptr<Database>> open_postgresql(const Target& target);
Result<std::unique_ptr<Database>> open_mariadb(const Target& target);

// How many prepared statements a connection keeps.
constexpr std::size_t kPreparedMost = 256;

// `?` as $1, $2, ...; those in quotes ('', "") and comments are left as they are.
std::string numbered_placeholders(std::string_view statement);

// A loaded library, or why there is none. The name is that of the file: "libpq.so.5".
Result<void*> load_library(const char* file, const char* package);
Result<void> find_function(void* library, const char* name, void*& function);

template <typename Function>
Result<void> find_function(void* library, const char* name, Function*& function) {
    void* found = nullptr;
    TRY(find_function(library, name, found));
    function = reinterpret_cast<Function*>(found);
    return {};
}

}  // namespace sluice::sql
