// See limit_check.h.
#include "core/limits/limit_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits/limit_book.h"
#include "model/times.h"

namespace sluice {

std::string LimitHolder::name() const {
    return qos ? "QOS " + qos->name : holder_name(*association);
}

bool LimitCheck::is_of_minutes() const {
    return kind == LimitKind::JobMinutes || kind == LimitKind::RunMinutes ||
           kind == LimitKind::UsedMinutes;
}

bool LimitCheck::is_shared() const {
    return kind == LimitKind::Tres || kind == LimitKind::Running || kind == LimitKind::Submitted ||
           kind == LimitKind::RunMinutes;
}

bool LimitCheck::is_broken() const {
    if (kind == LimitKind::Least || kind == LimitKind::FairShare) return wanted < most;
    return used > most || wanted > most - used;
}

std::string LimitCheck::text() const {
    const std::uint64_t shown = is_of_minutes() ? most / 60 : most;
    return fmt::format("{}={}", key, tres.empty() ? amount(most) : print_tres({{tres, shown}}));
}

std::string LimitCheck::amount(std::uint64_t count) const {
    if (kind == LimitKind::Wall || kind == LimitKind::UsedWall)
        return print_duration(Seconds{static_cast<std::int64_t>(count)});
    if (kind == LimitKind::FairShare)
        return fmt::format("{:.3f}", static_cast<double>(count) / kUnitFactor);
    if (is_of_minutes()) return fmt::format("{} minutes", (count + 59) / 60);
    return tres == "mem" ? print_memory(count) : std::to_string(count);
}

std::uint64_t LimitCheck::held_by(const LimitBook::Entry& other, const Job& job, Time now) const {
    if (!is_shared()) return 0;
    if (holder.association) {
        if (std::find(other.associations.begin(), other.associations.end(),
                      holder.association->id) == other.associations.end())
            return 0;
    } else {
        const bool is_theirs = among == Among::All ||
                               (among == Among::User && other.user == job.user) ||
                               (among == Among::Account && other.account == job.request->account);
        if (!is_theirs ||
            std::find(other.qos.begin(), other.qos.end(), holder.qos->name) == other.qos.end())
            return 0;
    }
    if (kind == LimitKind::RunMinutes) return other.use.seconds_left(tres, now);
    return tres.empty() ? other.use.running : other.use.held(tres);
}

}  // namespace sluice
