// The lines of a scenario about reservations.
#include <fmt/format.h>

#include "core/limits/reservations.h"
#include "model/errors.h"
#include "model/hostlist.h"
#include "testkit/scenario.h"
#include "testkit/scenario_words.h"

namespace sluice {

// "reserve r1 start=10 length=30 nodes=n[1-2] users=1000 flags=MAINT", in minutes; also "rereserve"
// and "unreserve". With refused=..., the error must contain that text.
std::string Scenario::reserve(ReservationChange::Verb verb, const std::string& name,
                              const Words& options) {
    ReservationChange change{.verb = verb, .name = name};
    auto minute = [&](const std::string& key) {
        return start_ + Minutes{as_number(options.at(key))};
    };
    if (options.contains("start")) change.start = minute("start");
    if (options.contains("end")) change.end = minute("end");
    if (options.contains("length")) change.duration = Minutes{as_number(options.at("length"))};
    if (options.contains("count")) change.node_count = as_number(options.at("count"));
    if (options.contains("partition")) change.partition = options.at("partition");
    if (options.contains("feature")) change.features = options.at("feature");
    if (options.contains("nodes"))
        change.nodes.emplace().items = Hostlist::parse(options.at("nodes")).value().names();
    const std::string user_list = option(options, "users");  // the views below point into it
    for (std::string_view user : split(user_list, ',')) {
        if (!user.empty())
            (change.users ? *change.users : change.users.emplace())
                .items.push_back(UserId{as_number(std::string(user))});
    }
    if (change.users) change.users->denied = options.contains("denied");
    if (options.contains("accounts")) change.accounts.emplace().items = {options.at("accounts")};
    if (options.contains("licenses")) change.licenses = options.at("licenses");
    if (options.contains("qos")) change.qos.emplace().items = {options.at("qos")};
    if (options.contains("partitions"))
        change.allowed_partitions.emplace().items = {options.at("partitions")};
    if (options.contains("delay")) change.max_start_delay = Minutes{as_number(options.at("delay"))};
    if (options.contains("purge")) change.purge_after = Minutes{as_number(options.at("purge"))};
    if (options.contains("gres")) change.gres = parse_gres(options.at("gres")).value();
    if (options.contains("group"))
        change.groups.emplace().items = {{"group", {UserId{as_number(options.at("group"))}}}};
    if (options.contains("cores")) {
        for (std::string_view cores : split(options.at("cores"), ','))
            change.core_counts.push_back(as_number(std::string(cores)));
    }
    if (options.contains("longer")) {
        change.duration = Minutes{as_number(options.at("longer"))};
        change.duration_sign = 1;
    }
    if (options.contains("flags")) parse_reservation_flags(options.at("flags"), 0, change).value();
    change.skip = options.contains("skip");
    UserId user{as_number(option(options, "by", "0"))};
    apply_event(ChangeReservation{RequestId{next_request_++}, {user, GroupId{0}}, change});
    const auto* error = std::get_if<Error>(&std::get<Reply>(effects_.back()).answer);
    std::string refused = option(options, "refused");
    if (!error) return refused.empty() ? "" : "was accepted";
    std::string text = to_string(*error);
    return !refused.empty() && text.find(refused) != std::string::npos ? "" : "refused: " + text;
}

// "reserved r1 gone", "reserved r1 start=1450", "reserved r1 n[1-2]".
std::string Scenario::reserved(const std::string& name, const std::string& wanted) {
    const Reservation* found = find_reservation(*cluster_, name);
    if (!found) return wanted == "gone" ? "" : "is gone";
    auto minutes = std::chrono::duration_cast<Minutes>(found->start - start_).count();
    if (wanted == found->node_names || wanted == fmt::format("start={}", minutes)) return {};
    return fmt::format("is on {}, start={}", found->node_names, minutes);
}

}  // namespace sluice
