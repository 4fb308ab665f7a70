// agent/stager.h
//
// The programs that bring datasets to this node, one sluice-stage per job, and what they say. They
// end with slurmd; a job that waits for one gets a new one from the next slurmd.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/run_key.h"
#include "agent/site.h"
#include "os/stream.h"
#include "protocol/frame.h"
#include "stage.pb.h"

namespace sluice {

class Stager {
public:
    struct Handlers {
        // The data of the job is there, or why it is not.
        std::function<void(const JobKey&, std::optional<Error>)> on_end;
        std::function<void(const JobKey&, const wire::StageProgress&)> on_progress;
        std::function<void(std::vector<std::uint64_t>)> on_cached;  // all sources in the cache
        std::function<void()> on_gone;  // a program has ended: there may be something to tidy up
    };

    Stager(EventLoop& loop, std::string program, Handlers handlers);
    ~Stager();

    void start(const JobKey& job, const wire::StageOrder& order);
    // For a job that runs; the end is told to `done` only, and never if the job ends before.
    using Done = std::function<void(const std::optional<Error>&)>;
    void start_beside(const JobKey& job, const wire::StageOrder& order, Done done);
    // on_end() follows.
    void stop(const JobKey& job);
    // Another node asks for pieces: sluice-stage answers it.
    void serve(const Site& site, const Fd& connection);
    // Removes from the cache what these jobs do not need.
    void tidy(const Site& site, const std::set<JobKey>& jobs);

private:
    struct Program;
    std::shared_ptr<Program> spawn(const std::string& title, const wire::StageJob& order,
                                   std::function<void(const wire::StageReport&)> on_report,
                                   std::function<void()> on_gone);
    void on_report(const JobKey& job, const wire::StageReport& report);
    void on_gone(const JobKey& job);
    void drop(const std::shared_ptr<Program>& program);
    void tidy_next();

    EventLoop& loop_;
    std::string program_;
    Handlers handlers_;
    std::map<JobKey, std::shared_ptr<Program>> programs_;
    std::multimap<JobKey, std::shared_ptr<Program>> beside_;
    std::shared_ptr<Program> tidying_;
    std::shared_ptr<Program> server_;
    std::optional<wire::StageJob> next_tidy_;  // waits for the one that runs
};

}  // namespace sluice
