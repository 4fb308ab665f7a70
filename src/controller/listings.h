// controller/listings.h
//
// Answers to squeue, sinfo and scontrol show, ready to be sent. The same question about the same
// state of the cluster has the same answer: it is made once and kept while that state is current.
// For one thread.
#pragma once

#include <list>
#include <string>

#include "controller/link.h"
#include "core/cluster.h"
#include "wire.pb.h"

namespace sluice {

class Listings {
public:
    Bytes answer(const Snapshot& snapshot, const wire::ListTable& question);

private:
    struct Kept {
        std::string question;
        Bytes answer;
    };
    static constexpr std::size_t kKeptMost = 16;

    std::uint64_t version_ = 0;  // of the snapshot that all kept answers are about
    std::list<Kept> kept_;       // the last used first
};

}  // namespace sluice
