// protocol/convert_query.cc
//
// Questions and answers. See convert.h.
#include <limits>
#include <type_traits>

#include "protocol/checks.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

// Lists of texts that are copied as they are.
struct Texts {
    std::string_view name;
    std::size_t count_most;
    std::vector<std::string> Filter::*member;
    google::protobuf::RepeatedPtrField<std::string>* (wire::Filter::*edit)();
    const google::protobuf::RepeatedPtrField<std::string>& (wire::Filter::*get)() const;
};

#define TEXTS(field, most) \
    { #field, most, &Filter::field, &wire::Filter::mutable_##field, &wire::Filter::field }
constexpr Texts kFilterTexts[] = {
    TEXTS(partitions, sizes::kNameCount),   TEXTS(names, sizes::kNameCount),
    TEXTS(accounts, sizes::kNameCount),     TEXTS(qos, sizes::kNameCount),
    TEXTS(reservations, sizes::kNameCount), TEXTS(nodes, sizes::kListedNodeCount),
    TEXTS(wckeys, sizes::kNameCount),
};
#undef TEXTS

// On the wire the two special numbers, which are the most frequent, take one byte instead of ten.
std::int64_t to_wire_number(std::int64_t number) {
    if (number == kAbsent) return 0;
    if (number == kUnlimited) return 1;
    return number < 0 ? number : number + 2;
}

std::int64_t from_wire_number(std::int64_t number) {
    if (number == 0) return kAbsent;
    if (number == 1) return kUnlimited;
    return number < 0 ? number : number - 2;
}

}  // namespace

wire::Error to_wire(const Error& error) {
    wire::Error out;
    out.set_code(static_cast<std::uint32_t>(error.code));
    out.set_detail(error.detail);
    out.set_hint(error.hint);
    return out;
}

Error from_wire(const wire::Error& wire) {
    constexpr auto kCodeMax = std::numeric_limits<std::underlying_type_t<ErrorCode>>::max();
    if (wire.code() == 0 || wire.code() > kCodeMax) {
        return {ErrorCode::ProtocolError, fmt::format("error {}: {}", wire.code(), wire.detail())};
    }
    return {static_cast<ErrorCode>(wire.code()), wire.detail(), wire.hint()};
}

Result<std::vector<JobRef>> job_refs_from(const WireTexts& names, std::size_t most) {
    TRY(checks::list_size("jobs", static_cast<std::size_t>(names.size()), most));
    std::vector<JobRef> jobs;
    SteppedTasks budget{sizes::kSteppedTaskCount};
    std::size_t bytes = 0, parts = 0;
    for (const std::string& name : names) {
        bytes += name.size();
        if (bytes > sizes::kJobNameBytes) {
            return invalid_value(
                "jobs", name,
                fmt::format("the names of all jobs have more than {} bytes", sizes::kJobNameBytes));
        }
        jobs.push_back(TRY(parse_job_ref(name, budget)));
        if (jobs.back().tasks || jobs.back().step) ++parts;
    }
    TRY(checks::list_size("array tasks and steps", parts, sizes::kChangedJobCount));
    return jobs;
}

wire::Filter to_wire(const Filter& filter) {
    wire::Filter out;
    for (const JobRef& job : filter.jobs) out.add_jobs(to_string(job));
    for (const UserId user : filter.users) out.add_users(user.value);
    for (const Texts& texts : kFilterTexts) {
        const std::vector<std::string>& list = filter.*texts.member;
        (out.*texts.edit)()->Add(list.begin(), list.end());
    }
    for (const ShownState state : filter.states) {
        out.add_states(static_cast<std::uint32_t>(state));
    }
    out.set_all_states(filter.all_states);
    out.set_include_hidden(filter.include_hidden);
    return out;
}

Result<Filter> from_wire(const wire::Filter& wire) {
    Filter filter;
    filter.jobs = TRY(job_refs_from(wire.jobs(), sizes::kListedJobCount));
    TRY(checks::list_size("users", static_cast<std::size_t>(wire.users_size()), sizes::kNameCount));
    for (const std::uint32_t user : wire.users()) filter.users.push_back(UserId{user});
    for (const Texts& texts : kFilterTexts) {
        filter.*texts.member =
            TRY(checks::texts(texts.name, (wire.*texts.get)(), sizes::kWord, texts.count_most));
    }
    TRY(checks::list_size("states", static_cast<std::size_t>(wire.states_size()),
                          sizes::kNameCount));
    for (const std::uint32_t state : wire.states()) {
        filter.states.push_back(
            TRY(checks::one_of("state", state, static_cast<ShownState>(kShownStateCount - 1))));
    }
    filter.all_states = wire.all_states();
    filter.include_hidden = wire.include_hidden();
    return filter;
}

wire::Listing to_wire(const Table& table) {
    wire::Listing out;
    out.set_rows(static_cast<std::uint32_t>(table.rows()));
    for (const Table::Column& column : table.columns()) {
        wire::Column& added = *out.add_columns();
        added.set_id(column.id);
        auto& numbers = *added.mutable_numbers();
        numbers.Reserve(static_cast<int>(column.numbers.size()));
        for (std::int64_t number : column.numbers)
            numbers.AddAlreadyReserved(to_wire_number(number));
        added.mutable_texts()->Add(column.texts.begin(), column.texts.end());
    }
    out.mutable_strings()->Add(table.strings().begin(), table.strings().end());
    return out;
}

Result<Table> from_wire(const wire::Listing& wire) {
    Table table;
    table.set_rows(wire.rows());
    TRY(checks::list_size("columns", static_cast<std::size_t>(wire.columns_size()),
                          sizes::kColumnCount));
    for (const wire::Column& column : wire.columns()) {
        constexpr auto kIdMax = std::numeric_limits<ColumnId>::max();
        const auto id = static_cast<ColumnId>(TRY(checks::number("column", column.id(), kIdMax)));
        if (table.has(id)) return checks::refused("column", fmt::format("{} comes twice", id));
        Table::Column& added = table.add_column(id);
        added.numbers.reserve(static_cast<std::size_t>(column.numbers_size()));
        for (std::int64_t number : column.numbers())
            added.numbers.push_back(from_wire_number(number));
        added.texts.assign(column.texts().begin(), column.texts().end());
    }
    for (const std::string& text : wire.strings()) table.add_string(text);
    if (!table.consistent()) {
        return checks::refused("listing",
                               "columns of different lengths, or texts that are missing");
    }
    return table;
}

}  // namespace sluice
