// core/limits/reservation_table.h
//
// All reservations, and which of them the store has not written yet. Readers share the list: a
// change makes a new one.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/reservation.h"

namespace sluice {

class ReservationTable {
public:
    using List = std::vector<Reservation>;  // in the order of creation

    const List& all() const { return *list_; }
    std::shared_ptr<const List> shared() const { return list_; }
    const Reservation* find(std::string_view name) const;
    void put(Reservation reservation);  // replaces the one of that name, if any
    void drop(const std::string& name);
    // The names that were put or dropped since the last call.
    std::set<std::string> take_changed();

    // Names and numbers are unique, and nodes exist; the text says what is wrong.
    std::optional<std::string> broken(std::uint32_t node_count) const;

private:
    std::shared_ptr<const List> list_ = std::make_shared<List>();
    std::set<std::string> changed_;
};

}  // namespace sluice
