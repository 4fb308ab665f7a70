// config/key_help.h
//
// What the keys of the configuration files do, for the manual pages and docs/reference.md. Every
// key with an effect has one text.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/values.h"

namespace sluice {

// The tables of keys; a line of slurm.conf that begins with NodeName, say, has a table of its own.
enum class KeyTable : std::uint8_t {
    SlurmConf,
    NodeName,
    NodeSet,
    DownNodes,
    PartitionName,
    SchedulerParameters,
    PreemptParameters,
    GresConf,
    CgroupConf,
    TopologyConf,
    JobContainerConf,
    OciConf,
    SlurmdbdConf,
};

struct KeyRow {
    std::string_view name;
    Kind kind = Kind::Text;
    std::string_view unset = {};
    std::string_view choices = {};
    bool has_effect = false;
    std::string_view help = {};
};

// All keys of a table in its order, with their texts.
std::vector<KeyRow> key_rows(KeyTable table);

// The texts alone.
struct KeyHelp {
    std::string_view name;
    std::string_view text;
};
std::span<const KeyHelp> key_help(KeyTable table);

// Keys that slurmctld refuses, with what is missing and what to do about it.
struct RefusedKey {
    std::string_view key;
    std::string_view words;  // "task/affinity|affinity"; empty: any value
    std::string_view reason;
};
std::vector<RefusedKey> refused_keys();

// The rows of each table, without texts: beside the tables.
std::vector<KeyRow> job_container_key_rows();
std::vector<KeyRow> oci_key_rows();
std::vector<KeyRow> node_key_rows();
std::vector<KeyRow> node_set_key_rows();
std::vector<KeyRow> down_key_rows();
std::vector<KeyRow> partition_key_rows();
std::vector<KeyRow> scheduler_key_rows();
std::vector<KeyRow> preempt_key_rows();
std::vector<KeyRow> gres_key_rows();
std::vector<KeyRow> topology_key_rows();

template <typename Target>
std::vector<KeyRow> rows_of(std::span<const Key<Target>> keys) {
    std::vector<KeyRow> rows;
    for (const Key<Target>& key : keys) {
        if (key.use == KeyUse::Command) continue;
        rows.push_back(
            {key.name, key.kind, key.unset, key.choices, key.set != nullptr && !key.shown_only});
    }
    return rows;
}

}  // namespace sluice
