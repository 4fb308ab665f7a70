// model/node_refs.h
//
// Visits every NodeIndex in a value that has a list of fields (fields.h), also in the values it
// consists of. A new member is visited as soon as it is in the list.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "model/fields.h"
#include "model/ids.h"

namespace sluice {

namespace node_refs {

// Whether a value of this type can contain a NodeIndex.
template <typename Value>
struct Has : std::is_same<Value, NodeIndex> {};
template <typename Value>
struct Has<std::vector<Value>> : Has<Value> {};
template <typename Value>
struct Has<std::optional<Value>> : Has<Value> {};
template <typename Value>
struct Has<std::shared_ptr<const Value>> : Has<Value> {};
template <HasFields Owner>
struct Has<Owner>
    : std::bool_constant<!all_fields<Owner>(
          []<typename Value>(const Field<Owner, Value>&) { return !Has<Value>::value; })> {};

}  // namespace node_refs

// Calls visit(node) for each. A visitor may change the nodes of a value that is not const; shared
// parts of the value are copied before.
template <typename Value, typename Visit>
void for_each_node(Value& value, const Visit& visit) {
    using Plain = std::remove_const_t<Value>;
    if constexpr (!node_refs::Has<Plain>::value) {
        return;
    } else if constexpr (std::same_as<Plain, NodeIndex>) {
        visit(value);
    } else if constexpr (HasFields<Plain>) {
        for_each_field<Plain>([&](const auto& each) { for_each_node(value.*each.member, visit); });
    } else if constexpr (kIsShared<Plain>) {
        if (!value) return;
        if constexpr (std::is_const_v<Value>) {
            for_each_node(*value, visit);
        } else {
            auto copy = std::make_shared<std::remove_const_t<typename Plain::element_type>>(*value);
            for_each_node(*copy, visit);
            value = std::move(copy);
        }
    } else if constexpr (requires { value.has_value(); }) {
        if (value) for_each_node(*value, visit);
    } else {
        for (auto& each : value) for_each_node(each, visit);
    }
}

}  // namespace sluice
