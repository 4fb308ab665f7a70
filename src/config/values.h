// config/values.h
//
// Settings of a configuration file are read through tables of keys (model/key_values.h):
// slurm.conf, its node and partition lines, gres.conf and cgroup.conf.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/lines.h"
#include "model/key_values.h"

namespace sluice {

template <typename Target>
Result<const Key<Target>*> known_key(std::span<const Key<Target>> keys, const Line& line,
                                     std::string_view name) {
    if (const Key<Target>* key = find_key(keys, name, KeyUse::File)) return key;
    std::vector<std::string_view> names;
    for (const Key<Target>& key : keys) {
        const bool is_written = key.kind != Kind::Shown && key.kind != Kind::Removed;
        if (is_written && key.use != KeyUse::Command) names.push_back(key.name);
    }
    return error_at(line, "unrecognized key '{}'{}", name, suggestion(name, names));
}

// Checks one setting and puts it where its row says; a key without effect leaves a warning.
template <typename Target>
Result<const Key<Target>*> apply(Target& target, std::span<const Key<Target>> keys,
                                 const Line& line, const Setting& setting,
                                 std::vector<std::string>& warnings) {
    const Key<Target>* key = TRY(known_key(keys, line, setting.key));
    if (key->kind == Kind::Removed) return key;
    Result<Value> value = parse_value(key->kind, key->choices, setting.value);
    if (!value) {
        return error_at(line, "{}={}: {}", key->name, setting.value, value.error().detail);
    }
    if (key->set) key->set(target, *value);
    bool has_effect = key->set && !key->shown_only;
    if (!has_effect &&
        !asks_for_nothing(setting.value, print_value(key->kind, key->choices, setting.value),
                          key->unset)) {
        warnings.push_back(
            note_at(line, "{}={} has no effect in Sluice", key->name, setting.value));
    }
    return key;
}

}  // namespace sluice
