// store/records.cc
//
// A row that is not valid is an error that says why; the store moves such a row to the table of
// damaged ones. See records.h.
#include "store/records.h"

#include <fmt/format.h>

#include "model/errors.h"
#include "model/hostlist.h"
#include "model/node_fields.h"
#include "model/qos_fields.h"
#include "model/record_fields.h"
#include "model/reservation_fields.h"
#include "model/validate.h"
#include "protocol/field_codec.h"

namespace sluice {

namespace {

template <HasFields Value>
std::string row_of(const Value& value) {
    std::string row;
    field_codec::put(kSchemaNumber, kSchema, row);
    field_codec::put_fields(value, row);
    return row;
}

Error bad_row(std::string why) {
    return {ErrorCode::StoreFailed, std::move(why)};
}

Result<void> check_schema(std::uint32_t schema, std::string_view what) {
    if (schema <= kSchema) return {};
    return Error{ErrorCode::ProtocolVersion,
                 fmt::format("the record of {} was written by a newer version (schema {}, this one "
                             "knows {}): upgrade, or restore an older backup",
                             what, schema, kSchema)};
}

template <HasFields Value>
Result<Value> read_row(std::string_view bytes, std::string_view what) {
    field_codec::Reader first(bytes);
    if (!first.next()) return bad_row("it cannot be decoded");
    std::uint32_t schema = 0;
    const bool has_schema =
        first.number() == kSchemaNumber && field_codec::get(first, FieldLimits{}, schema);
    if (!has_schema) return bad_row("it cannot be decoded");
    TRY(check_schema(schema, what));
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

std::string to_record(const EndedRun& run, const NodeNames& names) {
    return row_of(stored_form(run, names));
}

std::string to_record(const EndedStep& step, const NodeNames& names) {
    return row_of(stored_form(step, names));
}

std::string to_record(const StoredNode& node) {
    return row_of(node);
}

std::string to_record(const Reservation& reservation) {
    return row_of(reservation);
}

std::string to_record(const Qos& qos) {
    return row_of(qos);
}

Result<StoredRun> read_ended_run(JobId job, std::uint32_t restarts, std::string_view bytes) {
    StoredRun run =
        TRY(read_row<StoredRun>(bytes, fmt::format("run {} of job {}", restarts, job.value)));
    if (run.job.id != job || run.job.run.restarts != restarts)
        return bad_row("it is that of another run");
    return run;
}

Result<StoredStep> read_ended_step(const RunId& key, std::string_view bytes) {
    StoredStep step =
        TRY(read_row<StoredStep>(bytes, fmt::format("step {}.{}", key.job.value, key.step.value)));
    if (RunId{step.job, step.restarts, step.step.id} != key)
        return bad_row("it is that of another step");
    return step;
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

Result<void> RowLoader::add_qos(std::uint32_t id, std::string_view bytes) {
    Qos qos = TRY(read_row<Qos>(bytes, fmt::format("QOS {}", id)));
    if (qos.id != id || qos.name.empty()) return bad_row("it is that of another QOS");
    state_.qos.push_back(std::move(qos));
    return {};
}

}  // namespace sluice
