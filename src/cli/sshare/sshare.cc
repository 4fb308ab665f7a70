#include "cli/sshare/sshare.h"

#include <unistd.h>

#include "cli/common/listing.h"
#include "cli/sshare/options.h"
#include "model/columns.h"
#include "model/errors.h"
#include "os/user.h"
#include "surface/shares.h"

namespace sluice {

namespace {

std::string own_name() {
    const std::optional<User> user = find_user(getuid());
    return user ? user->name : std::to_string(getuid());
}

void print_names(Streams& streams, std::string_view heading,
                 const std::vector<std::string>& names) {
    std::string out = fmt::format("{} requested:\n", heading);
    for (const std::string& name : names) out += fmt::format("\t: {}\n", name);
    streams.err(names.empty() ? out + "\t: all\n" : out);
}

// Without the rows of accounts.
Table users_of(const Table& table) {
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        if (!table.text(i, ShareColumn::User).empty()) kept.push_back(i);
    }
    Table users;
    users.set_rows(kept.size());
    for (const Table::Column& column : table.columns()) {
        Table::Column copy{.id = column.id, .numbers = {}, .texts = {}};
        for (std::size_t row : kept) {
            if (column.texts.empty())
                copy.numbers.push_back(table.number(row, column.id));
            else
                copy.texts.push_back(users.intern(table.text(row, column.id)));
        }
        users.add_column(column.id) = std::move(copy);
    }
    return users;
}

// An account whose width is not given is indented by its place in the tree.
Result<std::vector<ReportColumn>> columns_for(const SshareOptions& options, bool is_fair_tree) {
    const std::string format = options.format.value_or(
        default_share_format(options.long_list, options.partitions, is_fair_tree));
    std::vector<ReportColumn> columns = TRY(parse_report_format(format, share_fields()));
    std::size_t at = 0;
    for (ReportColumn& column : columns) {
        const std::size_t end = format.find(',', at);
        const bool has_width = format.substr(at, end - at).find('%') != std::string::npos;
        at = end + 1;
        if (column.field->name != "Account" || has_width) continue;
        column.left = true;
        if (!options.users_only) column.field = &account_in_tree();
    }
    return columns;
}

}  // namespace

int run_sshare(const Invocation& invocation, Client& client, Streams& streams) {
    int exit_code = 0;
    std::optional<SshareOptions> options = parse_sshare_options(invocation, streams, exit_code);
    if (!options) return exit_code;
    if (!has_configuration(invocation, client, streams)) return 1;
    const std::string& type = (*client.config())->priority_type;
    if (type != "priority/multifactor") {
        streams.err(
            fmt::format("You are not running a supported priority plugin\n({}).\n"
                        "Only 'priority/multifactor' is supported.\n",
                        type));
        return 1;
    }
    if (auto known = columns_for(*options, true); !known) {
        print_error(streams, invocation,
                    fmt::format("Invalid field requested: \"{}\"", known.error().detail));
        return 1;
    }
    Filter filter;
    filter.accounts = options->accounts;
    filter.names = options->users;
    if (filter.names.empty() && !options->all_users) filter.names = {own_name()};
    if (options->verbose) {
        print_names(streams, "Users", filter.names);
        print_names(streams, "Accounts", filter.accounts);
    }
    Result<Table> listed =
        fetch_table(client, TableKind::Shares, all_columns(TableKind::Shares), filter);
    if (!listed) {
        print_error(
            streams, invocation,
            fmt::format("Couldn't get shares from controller: {}", to_string(listed.error())));
        return 1;
    }
    const Table table = options->users_only ? users_of(*listed) : *std::move(listed);
    const Looks looks = looks_for(invocation, client, current_time());
    const Sheet sheet(table, looks);
    if (options->json) {
        streams.out(shares_json(sheet, json_meta(invocation, looks, *options->json)));
        return 0;
    }
    const bool is_fair_tree =
        sheet.rows() == 0 || SheetRow{&sheet, 0}.number(ShareColumn::IsFairTree) != 0;
    streams.out(print_report(*columns_for(*options, is_fair_tree), sheet, options->bars,
                             !options->no_header));
    return 0;
}

}  // namespace sluice
