// controller/listings.h
//
// Answers to squeue, sinfo and scontrol show, ready to be sent. The same question about the same
// state of the cluster has the same answer: it is made once and kept while that state is current.
// Where PrivateData hides something from a user, the answer is kept for that user only. For one
// thread.
#pragma once

#include <list>
#include <string>

#include "core/cluster.h"
#include "net/link.h"
#include "wire.pb.h"

namespace sluice {

class Listings {
public:
    Bytes answer(const Snapshot& snapshot, const wire::ListTable& question, UserId viewer);

private:
    struct Kept {
        std::string question;
        std::optional<UserId> viewer;  // none: for all viewers who see everything
        Bytes answer;
    };
    static constexpr std::size_t kKeptMost = 16;

    std::uint64_t version_ = 0;  // of the snapshot that all kept answers are about
    std::list<Kept> kept_;       // the last used first
};

}  // namespace sluice
