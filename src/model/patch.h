// model/patch.h
//
// A change of some members of a value that has a list of fields (fields.h): new values, and which
// members have one. It is sent and checked like any other value with a list.
#pragma once

#include <algorithm>
#include <vector>

#include "model/fields.h"

namespace sluice {

template <HasFields Owner, typename Value>
constexpr std::uint32_t number_of(Value Owner::*member) {
    std::uint32_t number = 0;
    for_each_field<Owner>([&]<typename Each>(const Field<Owner, Each>& each) {
        if constexpr (std::same_as<Each, Value>) {
            if (each.member == member) number = each.number;
        }
    });
    return number;
}

// Its functions need the list of Owner.
template <typename Owner>
struct Patch {
    Owner values;                    // members that stay as they are have their default here
    std::vector<std::uint32_t> set;  // the numbers of the members that change

    bool empty() const { return set.empty(); }
    template <typename Value>
    bool has(Value Owner::*member) const {
        return std::find(set.begin(), set.end(), number_of(member)) != set.end();
    }
    // The new value of the member, to be written.
    template <typename Value>
    Value& change(Value Owner::*member) {
        if (!has(member)) set.push_back(number_of(member));
        return values.*member;
    }
    template <typename Value>
    void keep(Value Owner::*member) {
        std::erase(set, number_of(member));
    }
    void apply_to(Owner& target) const {
        for_each_field<Owner>([&](const auto& each) {
            if (has(each.member)) target.*each.member = values.*each.member;
        });
    }
    bool operator==(const Patch&) const = default;
};

template <typename Owner>
inline constexpr auto kFields<Patch<Owner>> = fields<Patch<Owner>>(
    field(1, "values", &Patch<Owner>::values),
    field(2, "changed members", &Patch<Owner>::set, FieldLimits{.most = 255, .entries = 255}));

}  // namespace sluice
