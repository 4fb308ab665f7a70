// accounting/sql_accounting.h
//
// The only Accounting: on a connection to an SQL database.
#pragma once

#include <memory>

#include "accounting/accounting.h"

namespace sluice {

// Makes or migrates the tables. Tests give a connection of their own.
Result<std::unique_ptr<Accounting>> make_accounting(std::unique_ptr<sql::Database> database);

}  // namespace sluice
