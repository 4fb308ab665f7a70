#include "core/limits/reservation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice {

const Reservation* ReservationTable::find(std::string_view name) const {
    auto found = std::find_if(list_->begin(), list_->end(),
                              [&](const Reservation& each) { return each.name == name; });
    return found == list_->end() ? nullptr : &*found;
}

void ReservationTable::put(Reservation reservation) {
    auto changed = std::make_shared<List>(*list_);
    changed_.insert(reservation.name);
    std::erase_if(*changed,
                  [&](const Reservation& known) { return known.name == reservation.name; });
    changed->push_back(std::move(reservation));
    std::sort(changed->begin(), changed->end(),
              [](const Reservation& a, const Reservation& b) { return a.number < b.number; });
    list_ = std::move(changed);
}

void ReservationTable::drop(const std::string& name) {
    auto changed = std::make_shared<List>(*list_);
    changed_.insert(name);
    std::erase_if(*changed, [&](const Reservation& known) { return known.name == name; });
    list_ = std::move(changed);
}

std::set<std::string> ReservationTable::take_changed() {
    return std::exchange(changed_, {});
}

std::optional<std::string> ReservationTable::broken(std::uint32_t node_count) const {
    for (auto each = list_->begin(); each != list_->end(); ++each) {
        if (find(each->name) != &*each)
            return fmt::format("there are two reservations {}", each->name);
        if (each != list_->begin() && std::prev(each)->number >= each->number)
            return fmt::format("reservation {} is out of order", each->name);
        for (NodeIndex node : each->nodes) {
            if (node.value >= node_count)
                return fmt::format("reservation {} has a node that does not exist", each->name);
        }
    }
    return {};
}

}  // namespace sluice
