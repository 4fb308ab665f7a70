// cli/common/ask_accounting.h
//
// Questions to the accounting database: slurmctld or slurmdbd answers with rows, which are values
// with a list of fields.
#pragma once

#include <string>
#include <vector>

#include "cli/client/client.h"
#include "model/accounting_question.h"
#include "model/errors.h"
#include "protocol/field_codec.h"

namespace sluice {

Result<std::vector<std::string>> ask_accounting(Client& client, const AccountingQuestion& question);

// The rows as values of the type that the kind of question has.
template <typename Row>
Result<std::vector<Row>> ask_rows(Client& client, const AccountingQuestion& question) {
    const std::vector<std::string> encoded = TRY(ask_accounting(client, question));
    std::vector<Row> rows(encoded.size());
    for (std::size_t i = 0; i < encoded.size(); ++i) {
        TRY(field_codec::get_fields(encoded[i], rows[i]));
    }
    return rows;
}

// "Problem talking to the database: ..." on standard error.
void print_accounting_error(Streams& streams, const Invocation& invocation, const Error& error);

}  // namespace sluice
