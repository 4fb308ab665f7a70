// controller/peer_hosts.cc
#include "controller/peer_hosts.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "os/socket.h"

namespace sluice {
namespace {

constexpr Seconds kKeptFor{60};  // hosts rarely change their addresses

std::string address_to_look_up(const std::string& name, const Snapshot& snapshot) {
    std::string address = name;
    snapshot.nodes.for_each([&](const Node& node) {
        if (node.config.name == name && !node.config.address.empty()) address = node.config.address;
    });
    return address;
}

}  // namespace

std::vector<std::string> hosts_in_alloc_nodes(const Snapshot& snapshot) {
    std::set<std::string> names;
    for (const Partition& partition : *snapshot.partitions) {
        const auto& hosts = partition.config.allow_alloc_nodes;
        names.insert(hosts.begin(), hosts.end());
    }
    std::erase_if(names, [](const std::string& name) { return equals_ignoring_case(name, "ALL"); });
    return {names.begin(), names.end()};
}

std::vector<std::string> names_of_this_host(const std::vector<std::string>& names,
                                            const Snapshot& snapshot) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
        const bool is_own = is_local_address(address_to_look_up(name, snapshot)) ||
                            is_local_address(name.substr(0, name.find('.')));
        if (is_own) found.push_back(name);
    }
    return found;
}

std::vector<std::string> PeerHosts::with_address(const std::string& address,
                                                 const std::vector<std::string>& names,
                                                 const Snapshot& snapshot, Time now) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
        const std::string wanted = address_to_look_up(name, snapshot);
        Known& known = known_[wanted];
        if (known.asked + kKeptFor <= now) known = {addresses_of(wanted), now};
        const auto& all = known.addresses;
        if (std::find(all.begin(), all.end(), address) != all.end()) found.push_back(name);
    }
    return found;
}

std::string address_in_peer(const std::string& peer) {
    std::string address = peer.substr(0, peer.rfind(':'));
    constexpr std::string_view kMapped = "::ffff:";
    return address.starts_with(kMapped) ? address.substr(kMapped.size()) : address;
}

}  // namespace sluice
