#include "agent/slow_work.h"

#include <sys/eventfd.h>

#include <csignal>
#include <thread>

#include "base/check.h"
#include "base/queue.h"

namespace sluice {

namespace {
constexpr int kThreads = 4;
constexpr std::size_t kWaitingMost = 256;  // as many as there may be connections to us
}  // namespace

struct SlowWork::Shared {
    Queue<Piece> waiting{kWaitingMost};
    Queue<Piece> done{kWaitingMost};
    Fd wake{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

    void run() {
        for (;;) {
            std::vector<Piece> pieces = waiting.take(1);
            if (pieces.empty()) return;
            pieces[0].work();
            if (!done.push(std::move(pieces[0]))) return;
            eventfd_write(wake.get(), 1);
        }
    }
};

SlowWork::SlowWork(EventLoop& loop) : loop_(loop), shared_(std::make_shared<Shared>()) {
    CHECK(shared_->wake, "eventfd");
    loop_.watch(shared_->wake.get(), EPOLLIN, [this](std::uint32_t) { finish_done(); });
}

SlowWork::~SlowWork() {
    loop_.forget(shared_->wake.get());
    shared_->waiting.close();
    shared_->done.close();
}

bool SlowWork::add(Piece piece) {
    if (!std::exchange(has_threads_, true)) start_threads();
    return shared_->waiting.try_push(std::move(piece));
}

// At the first use: a daemon that goes into the background forks before that, and only one thread
// comes along. Signals are for the loop.
void SlowWork::start_threads() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < kThreads; ++i) std::thread([shared = shared_] { shared->run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void SlowWork::finish_done() {
    eventfd_t count = 0;
    eventfd_read(shared_->wake.get(), &count);
    const std::shared_ptr<Shared> alive = shared_;
    while (alive->done.size() > 0) {
        for (Piece& piece : alive->done.take(1)) piece.then();
    }
}

}  // namespace sluice
