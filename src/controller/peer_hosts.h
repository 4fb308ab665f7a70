// controller/peer_hosts.h
//
// The host of a connection, by its names in AllocNodes. The host that a client names is not
// trusted: the address of the connection is compared with the addresses of the names. Addresses are
// looked up, so this is for one thread that may block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/cluster.h"

namespace sluice {

// All hosts in AllocNodes of all partitions; empty: no partition has any.
std::vector<std::string> hosts_in_alloc_nodes(const Snapshot& snapshot);

// Those of `names` that denote this host.
std::vector<std::string> names_of_this_host(const std::vector<std::string>& names,
                                            const Snapshot& snapshot);

class PeerHosts {
public:
    // Those of `names` that have this IP address. Names of nodes have the node's NodeAddr.
    std::vector<std::string> with_address(const std::string& address,
                                          const std::vector<std::string>& names,
                                          const Snapshot& snapshot, Time now);

private:
    struct Known {
        std::vector<std::string> addresses;
        Time asked;
    };
    std::map<std::string, Known> known_;  // by name or address as looked up
};

// "10.0.0.7" of "10.0.0.7:51234" or "::ffff:10.0.0.7:51234".
std::string address_in_peer(const std::string& peer);

}  // namespace sluice
