// cli/sacctmgr/qos.cc
//
// sacctmgr show, add, modify and delete qos. The keys are parsed by the table of model/qos_keys.cc.
#include "surface/qos.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/sacctmgr/sacctmgr.h"
#include "model/columns.h"
#include "model/errors.h"
#include "model/qos_keys.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

using Names = std::vector<std::string>;

struct QosWords {
    Names names;  // lower case, as they are kept
    std::string format;
    KeyTexts changes;
    std::optional<std::string> unknown;  // a condition that there is not
};

bool is_key(std::string_view key, std::initializer_list<std::string_view> spellings) {
    return std::any_of(spellings.begin(), spellings.end(),
                       [&](std::string_view each) { return equals_ignoring_case(each, key); });
}

void add_names(std::string_view list, QosWords& read) {
    for (const std::string& name : split_list(list)) read.names.push_back(to_lower(name));
}

// "[where] name=a,b format=name" and, after `set`, what is to be changed. A new one's keys need no
// `set`.
QosWords read_words(const std::vector<std::string>& words, bool sets) {
    QosWords read;
    for (const std::string& word : words) {
        if (is_key(word, {"where"}))
            sets = false;
        else if (is_key(word, {"set"}))
            sets = true;
        if (is_key(word, {"where", "set"})) continue;
        const std::size_t at = word.find('=');
        const std::string_view key = std::string_view(word).substr(0, at);
        if (at == std::string::npos) {
            add_names(word, read);
        } else if (is_key(key, {"name", "names", "qos", "qoslevel"})) {
            add_names(std::string_view(word).substr(at + 1), read);
        } else if (sets) {
            read.changes.emplace_back(key, word.substr(at + 1));
        } else if (is_key(key, {"format"})) {
            read.format = word.substr(at + 1);
        } else if (!read.unknown) {
            read.unknown = word;
        }
    }
    return read;
}

int say(AccountingCommand& command, std::string_view text) {
    command.streams.err(fmt::format(" {}\n", text));
    return 1;
}

int unknown_condition(AccountingCommand& command, const std::string& word) {
    return say(command,
               fmt::format("Unknown condition: {}\n Use keyword 'set' to modify value", word));
}

int no_answer(AccountingCommand& command, const Error& error) {
    print_error(command.streams, command.invocation, to_string(error));
    return 1;
}

// Those of the names that there are.
Result<Names> known_among(AccountingCommand& command, const Names& names) {
    if (names.empty()) return Names{};
    Filter filter;
    filter.names = names;
    const Table table = TRY(fetch_table(command.client, TableKind::Qos,
                                        {static_cast<ColumnId>(QosColumn::Name)}, filter));
    const Looks looks;
    const Sheet sheet(table, looks);
    Names known;
    for (std::uint32_t i = 0; i < sheet.rows(); ++i)
        known.emplace_back(sheet.text(i, QosColumn::Name));
    return known;
}

bool is_agreed(AccountingCommand& command) {
    command.streams.out(
        "Would you like to commit changes? (You have 30 seconds to decide)\n(N/y): ");
    command.streams.flush();
    std::string answer;
    const bool yes = command.streams.read_line(answer) && is_key(trim(answer), {"y", "yes"});
    command.streams.out(yes ? "\n" : "\n Changes Discarded\n");
    return yes;
}

int report(AccountingCommand& command, std::string_view doing, const Error& error) {
    switch (error.code) {
        case ErrorCode::NotFound:
            return say(command,
                       fmt::format("Unknown option: {}\n Use keyword 'where' to modify condition",
                                   error.detail));
        case ErrorCode::BadArgument:
            print_error(command.streams, command.invocation, error.detail);
            return 1;
        default:
            return say(command, fmt::format("Problem {} QOS: {}", doing, to_string(error)));
    }
}

struct Deed {
    wire::Update::Verb verb;
    std::string_view doing;  // "adding"
    std::string summary;     // the change, as it is printed
};

// Asks the user for confirmation, unless -i is given. Refused changes are not reported as made.
int perform(AccountingCommand& command, const Deed& deed, const Names& names,
            const QosWords& read) {
    const Result<QosChange> change = parse_qos_change(read.changes);
    if (!change) return report(command, deed.doing, change.error());
    wire::Request request;
    wire::Update& update = *request.mutable_update();
    update.set_entity(wire::Update::QOS);
    update.set_verb(deed.verb);
    update.set_name(join(names, ","));
    update.set_change(encode(*change));
    if (!command.immediate) {
        command.streams.out(deed.summary);
        if (!is_agreed(command)) return 0;
    }
    if (Result<wire::Reply> reply = command.client.call(request); !reply)
        return report(command, deed.doing, reply.error());
    if (command.immediate && !command.quiet) command.streams.out(deed.summary);
    return 0;
}

std::string lines_of(std::string_view heading, const Names& names) {
    return fmt::format(" {}\n  {}\n", heading, fmt::join(names, "\n  "));
}

// Compat: of several that are described by their names the last one is shown.
std::string settings_lines(const Names& names, const QosWords& read) {
    std::string description = names.back(), others;
    for (const auto& [key, value] : read.changes) {
        const ReportField* field = find_report_field(qos_fields(), key);
        const std::string_view name = field ? field->name : std::string_view(key);
        if (name == "Description")
            description = value;
        else
            others += fmt::format("  {:<24} = {}\n", name, value);
    }
    return fmt::format(" Settings\n  Description    = {}\n{}", description, others);
}

}  // namespace

int show_qos(AccountingCommand& command) {
    const QosWords read = read_words(command.words, false);
    if (read.unknown) return unknown_condition(command, *read.unknown);
    std::vector<ReportColumn> columns = shown_columns(qos_fields());
    if (!read.format.empty()) {
        Result<std::vector<ReportColumn>> wanted = parse_report_format(read.format, qos_fields());
        if (!wanted) {
            command.streams.err(fmt::format("Unknown field '{}'\n", wanted.error().detail));
            return 1;
        }
        columns = *std::move(wanted);
    }
    Filter filter;
    filter.names = read.names;
    Result<Table> table =
        fetch_table(command.client, TableKind::Qos, all_columns(TableKind::Qos), filter);
    if (!table) return no_answer(command, table.error());
    const Looks looks;
    command.streams.out(print_report(columns, Sheet(*table, looks), command.bars, command.header));
    return 0;
}

int add_qos(AccountingCommand& command) {
    const QosWords read = read_words(command.words, true);
    if (read.names.empty()) return say(command, "Need name of qos to add.");
    Result<Names> known = known_among(command, read.names);
    if (!known) return no_answer(command, known.error());
    Names fresh;
    for (const std::string& name : read.names) {
        if (std::find(known->begin(), known->end(), name) == known->end()) fresh.push_back(name);
    }
    if (fresh.empty()) return say(command, "Nothing new added.");
    const std::string summary = lines_of("Adding QOS(s)", fresh) + settings_lines(fresh, read);
    return perform(command, {wire::Update::CREATE, "adding", summary}, fresh, read);
}

int modify_qos(AccountingCommand& command) {
    const QosWords read = read_words(command.words, false);
    if (read.unknown) return unknown_condition(command, *read.unknown);
    if (read.changes.empty()) return say(command, "You didn't give me anything to set");
    if (read.names.empty()) return say(command, "You didn't set any conditions with 'WHERE'.");
    Result<Names> known = known_among(command, read.names);
    if (!known) return no_answer(command, known.error());
    if (known->empty()) return say(command, "Nothing modified");
    return perform(command,
                   {wire::Update::CHANGE, "modifying", lines_of("Modified qos...", *known)}, *known,
                   read);
}

int delete_qos(AccountingCommand& command) {
    const QosWords read = read_words(command.words, false);
    if (read.unknown) return unknown_condition(command, *read.unknown);
    if (read.names.empty()) return say(command, "No conditions given to remove, not executing.");
    Result<Names> known = known_among(command, read.names);
    if (!known) return no_answer(command, known.error());
    if (known->empty()) return say(command, "Nothing deleted");
    return perform(command,
                   {wire::Update::DELETE, "deleting", lines_of("Deleting QOS(s)...", *known)},
                   *known, read);
}

}  // namespace sluice
