// controller/inbox.h
//
// What the I/O threads pass to the core's thread, and how answers come back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/queue.h"
#include "controller/in_flight.h"
#include "controller/undecided.h"
#include "core/effect.h"
#include "core/event.h"
#include "net/request_counts.h"
#include "store/store.h"

namespace sluice {

class Cluster;

// A question (core/question.h) and all that its answer needs.
struct OpenQuestion {
    Event event;
    std::shared_ptr<const Cluster> cluster;  // a copy for questions
    Time time;
    std::shared_ptr<const InFlight::Charge> charge;  // for its bytes, until it is answered
};

// A client that waits for answers. Called after the commit, by the thread that made it.
class Asker {
public:
    virtual ~Asker() = default;
    virtual void answered(RequestId request, Answer answer) = 0;
    // The answer has to be computed by another thread than the caller's.
    virtual void to_be_answered(RequestId request, OpenQuestion question) = 0;
    virtual void all_told() {}  // no more answers in this batch
};

// The connection of a node whose reports are acknowledged once they are on disk. Defined by the
// fleet.
class NodeLink;

struct Ack {
    std::shared_ptr<NodeLink> link;
    std::uint64_t sequence = 0;
};

struct Incoming {
    Event event;
    std::vector<Blob> blobs;       // script and environment of a submission
    std::shared_ptr<Asker> asker;  // null: no reply
    RequestId request;             // that of the event, if there is a reply
    std::optional<Ack> ack;
    std::shared_ptr<const Undecided::Mark> mark;     // of a request that may be repeated
    std::shared_ptr<const InFlight::Charge> charge;  // for its bytes, until it is decided
    std::function<void()> then = {};  // called by the shell once the event is decided and written
    RequestCounts::Timer timer = {};  // of the message, until it is decided
};

using Inbox = Queue<Incoming>;
constexpr std::size_t kInboxSize = 16384;

}  // namespace sluice
