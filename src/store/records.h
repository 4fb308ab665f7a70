// store/records.h
//
// Records as rows of bytes, each with the version of its schema. The same for every kind of store.
// The bytes follow from the lists of fields (model/record_fields.h and others).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/stored.h"
#include "store/schema.h"

namespace sluice {

constexpr std::uint32_t kSchemaNumber = 1;  // of the field of each row with its kSchema

std::string to_record(const Job& job, const NodeNames& names);
std::string to_record(const Fact& fact);
std::string to_record(const StoredNode& node);
std::string to_record(const Reservation& reservation);
std::string to_record(const Policy& policy);
std::string to_record(const StoredUsage& row);
std::string to_record(const Trigger& trigger);

// `kind`: Fact::index(). Errors as those of RowLoader.
Result<Fact> read_fact(std::size_t kind, std::string_view bytes);
Result<Qos> read_qos(std::uint32_t id, std::string_view bytes);  // of a file of version 4

// Decodes rows. Each comes with its key. A row that is not valid is an error with the code
// StoreFailed; one of a newer version of this program has the code ProtocolVersion.
class RowLoader {
public:
    Result<void> add_job(JobId id, std::string_view bytes);
    Result<void> add_node(std::string_view name, std::string_view bytes);
    Result<void> add_reservation(std::string_view name, std::string_view bytes);
    Result<void> set_policy(std::string_view bytes);
    Result<void> add_usage(std::string_view key, std::string_view bytes);
    Result<void> add_trigger(std::uint32_t id, std::string_view bytes);
    void add_damaged(DamagedRow row) { state_.damaged.push_back(std::move(row)); }
    void set_next_job_id(std::uint32_t id) { state_.next_job_id = id; }
    StoredState take() { return std::move(state_); }

private:
    StoredState state_;
};

}  // namespace sluice
