// agent/slow_work.h
//
// Work that may block, such as a question to munged, runs on threads of its own. What follows from
// its result runs in the event loop, which goes on meanwhile: signals, timers and orders do not
// wait for a munged that does not answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "os/event_loop.h"

namespace sluice {

class SlowWork {
public:
    explicit SlowWork(EventLoop& loop);
    ~SlowWork();  // waits for no work: what is still running has no effect any more
    SlowWork(const SlowWork&) = delete;
    SlowWork& operator=(const SlowWork&) = delete;

    // Runs `work` on a thread, then `then` with its result in the loop. `work` must own all it
    // uses: it may still run when the caller is gone. False, and neither is called: too much waits
    // already.
    template <typename Work, typename Then>
    [[nodiscard]] bool run(Work work, Then then) {
        auto result = std::make_shared<std::optional<std::invoke_result_t<Work>>>();
        return add({[result, work = std::move(work)] { result->emplace(work()); },
                    [result, then = std::move(then)] { then(std::move(**result)); }});
    }

private:
    struct Piece {
        std::function<void()> work, then;
    };
    struct Shared;
    bool add(Piece piece);
    void start_threads();
    void finish_done();

    EventLoop& loop_;
    std::shared_ptr<Shared> shared_;  // also the threads'
    bool has_threads_ = false;
};

}  // namespace sluice
