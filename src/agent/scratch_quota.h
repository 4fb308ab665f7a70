// agent/scratch_quota.h
//
// ScratchQuota: how much disk space the scratch directories of jobs use is measured from time to
// time, on a thread of its own. A job that uses too much is ended on this node.
#pragma once

#include <chrono>
#include <memory>

#include "agent/jobs.h"
#include "agent/site.h"
#include "agent/slow_work.h"

namespace sluice {

class ScratchQuota {
public:
    ScratchQuota(EventLoop& loop, SlowWork& slow_work, Jobs& jobs,
                 std::chrono::milliseconds interval = std::chrono::seconds{10})
        : loop_(loop), slow_work_(slow_work), jobs_(jobs), interval_(interval) {}

    void replace_site(std::shared_ptr<const Site> site);

private:
    void measure();
    void measure_later();

    EventLoop& loop_;
    SlowWork& slow_work_;
    Jobs& jobs_;
    const std::chrono::milliseconds interval_;
    std::shared_ptr<const Site> site_;
    bool is_measuring_ = false;  // or waits for the next time
};

}  // namespace sluice
