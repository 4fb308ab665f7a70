// controller/inbox.h
//
// What the I/O threads hand to the core's thread, and how answers find their way back.
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
#include "store/store.h"

namespace sluice {

class Cluster;

// A question (core/question.h) and all that it is to be answered from.
struct OpenQuestion {
    Event event;
    std::shared_ptr<const Cluster> cluster;  // a copy for questions
    Time time;
    std::shared_ptr<const InFlight::Charge> charge;  // for its bytes, until it is answered
};

// Somebody who waits for answers. Called after the commit, by the thread that made it.
class Asker {
public:
    virtual ~Asker() = default;
    virtual void answered(RequestId request, Answer answer) = 0;
    // The answer is to be worked out, by another thread than the caller's.
    virtual void to_be_answered(RequestId request, OpenQuestion question) = 0;
    virtual void all_told() {}  // no more of them come at this time
};

// A node that wants to hear when its reports are on disk. Known to the fleet alone.
class NodeLink;

struct Ack {
    std::shared_ptr<NodeLink> link;
    std::uint64_t sequence = 0;
};

struct Incoming {
    Event event;
    std::vector<Blob> blobs;       // script and environment of a submission
    std::shared_ptr<Asker> asker;  // null: nobody waits
    RequestId request;             // the event's own, when somebody waits
    std::optional<Ack> ack;
    std::shared_ptr<const Undecided::Mark> mark;     // of what may be sent again
    std::shared_ptr<const InFlight::Charge> charge;  // for its bytes, until it is decided
    std::function<void()> then = {};  // what the shell does once the event is decided and written
};

using Inbox = Queue<Incoming>;
constexpr std::size_t kInboxSize = 16384;

}  // namespace sluice
