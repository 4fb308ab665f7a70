// store/records.cc
//
// A row that is not valid is an error that says why; the store moves such a row to the table of
// damaged ones. See records.h.
#include "store/records.h"

#include <fmt/format.h>

#include "model/errors.h"
#include "model/hostlist.h"
#include "model/node_fields.h"
#include "model/policy_fields.h"
#include "model/record_fields.h"
#include "model/reservation_fields.h"
#include "model/trigger_fields.h"
#include "model/used_fields.h"
#include "model/validate.h"
#include "protocol/fact_codec.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

template <HasFields Value>
std::string row_of(const Value& value) {
    std::string row;
    field_codec::put(kSchemaNumber, schema_of_rows(), row);
    field_codec::put_fields(value, row);
    return row;
}

Error bad_row(std::string why) {
    return {ErrorCode::StoreFailed, std::move(why)};
}

Result<void> check_schema(std::uint32_t schema, std::string_view what) {
    if (schema <= schema_of_rows()) return {};
    return Error{ErrorCode::ProtocolVersion,
                 fmt::format("the record of {} was written by a newer version (schema {}, this one "
                             "knows {}): upgrade, or restore an older backup",
                             what, schema, schema_of_rows())};
}

Result<void> check_schema_of(std::string_view bytes, std::string_view what) {
    field_codec::Reader first(bytes);
    if (!first.next()) return bad_row("it cannot be decoded");
    std::uint32_t schema = 0;
    const bool has_schema =
        first.number() == kSchemaNumber && field_codec::get(first, FieldLimits{}, schema);
    if (!has_schema) return bad_row("it cannot be decoded");
    return check_schema(schema, what);
}

template <HasFields Value>
Result<Value> read_row(std::string_view bytes, std::string_view what) {
    TRY(check_schema_of(bytes, what));
    Value value;
    Result<void> read = field_codec::get_fields(bytes, value);
    if (read) read = validate(value);
    if (!read) return bad_row(to_string(read.error()));
    return value;
}

}  // namespace

std::string to_record(const Job& job, const NodeNames& names) {
    return row_of(stored_form(job, names));
}

std::string to_record(const Fact& fact) {
    std::string row;
    field_codec::put(kSchemaNumber, schema_of_rows(), row);
    return row + encode(fact);
}

std::string to_record(const StoredNode& node) {
    return row_of(node);
}

std::string to_record(const Reservation& reservation) {
    return row_of(reservation);
}

std::string to_record(const Policy& policy) {
    return row_of(policy);
}

std::string to_record(const StoredUsage& row) {
    return row_of(row);
}

std::string to_record(const Trigger& trigger) {
    return row_of(trigger);
}

Result<Fact> read_fact(std::size_t kind, std::string_view bytes) {
    TRY(check_schema_of(bytes, "accounting"));
    Result<Fact> fact = decode_fact(kind, bytes);
    if (!fact) return bad_row(to_string(fact.error()));
    return fact;
}

Result<Qos> read_qos(std::uint32_t id, std::string_view bytes) {
    Qos qos = TRY(read_row<Qos>(bytes, fmt::format("QOS {}", id)));
    if (qos.id != id || qos.name.empty()) return bad_row("it is that of another QOS");
    return qos;
}

Result<void> RowLoader::add_job(JobId id, std::string_view bytes) {
    StoredJob stored = TRY(read_row<StoredJob>(bytes, fmt::format("job {}", id.value)));
    if (stored.job.id != id) return bad_row("it is that of another job");
    state_.jobs.push_back(std::move(stored));
    return {};
}

Result<void> RowLoader::add_node(std::string_view name, std::string_view bytes) {
    StoredNode node = TRY(read_row<StoredNode>(bytes, fmt::format("node {}", name)));
    if (node.name != name) return bad_row("it is that of another node");
    state_.nodes.push_back(std::move(node));
    return {};
}

Result<void> RowLoader::add_reservation(std::string_view name, std::string_view bytes) {
    Reservation reservation =
        TRY(read_row<Reservation>(bytes, fmt::format("reservation {}", name)));
    if (reservation.name != name) return bad_row("it is that of another reservation");
    if (!Hostlist::parse(reservation.node_names))
        return bad_row("its list of nodes cannot be read");
    state_.reservations.push_back(std::move(reservation));
    return {};
}

Result<void> RowLoader::set_policy(std::string_view bytes) {
    Policy policy = TRY(read_row<Policy>(bytes, "the policy"));
    state_.policy = std::make_shared<const Policy>(std::move(policy));
    return {};
}

Result<void> RowLoader::add_usage(std::string_view key, std::string_view bytes) {
    StoredUsage row = TRY(read_row<StoredUsage>(bytes, fmt::format("the usage of {}", key)));
    if (usage_key(row) != key) return bad_row("it is that of another association or QOS");
    state_.usage.push_back(std::move(row));
    return {};
}

Result<void> RowLoader::add_trigger(std::uint32_t id, std::string_view bytes) {
    Trigger trigger = TRY(read_row<Trigger>(bytes, fmt::format("trigger {}", id)));
    if (trigger.id != id) return bad_row("it is that of another trigger");
    state_.triggers.push_back(std::move(trigger));
    return {};
}

}  // namespace sluice
