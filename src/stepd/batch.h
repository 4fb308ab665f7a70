// stepd/batch.h
//
// The batch script: a file in the spool, its output files, and the shell that runs it.
#pragma once

#include <memory>

#include "os/fd.h"
#include "os/user.h"
#include "protocol/convert.h"
#include "stepd/container.h"
#include "stepd/environment.h"
#include "stepd/oci_task.h"
#include "stepd/output.h"
#include "stepd/task_hooks.h"
#include "stepd/work.h"

namespace sluice {

class BatchWork : public Work {
public:
    BatchWork(EventLoop& loop, const wire::StepOrder& order, const User& user,
              const Container& container, OnFailed on_failed)
        : loop_(loop),
          order_(order),
          request_(request_of(order.batch().job())),
          user_(user),
          container_(container),
          on_failed_(std::move(on_failed)) {}

    Result<void> start(const std::string& preface) override;
    void on_exit(pid_t pid, int wait_status) override;
    std::vector<TaskProcess> processes() const override;
    bool finished() const override { return finished_; }
    wire::ExitStatus exit() const override { return exit_; }
    void say(const std::string& line) override;
    void announce(const std::string& reason_line) override;
    void signal(const wire::SignalJob& order) override;
    void wind_up(const wire::StepEnd&) override {}
    bool wound_up() override { return true; }

private:
    Result<std::string> write_script() const;
    FileDemands files() const;
    void on_files(Result<Fd> err);
    Environment make_environment() const;
    void add_login(ProcessSpec& spec) const;
    Result<void> open_display();
    void set_display(Environment& environment) const;

    EventLoop& loop_;
    const wire::StepOrder& order_;
    const JobRequest request_;
    const User& user_;
    const Container& container_;
    OnFailed on_failed_;
    std::unique_ptr<FileOpening> opening_;
    Fd err_;            // the script's, once it is open
    pid_t shell_ = -1;  // none once it has ended
    pid_t epilog_ = -1;
    std::unique_ptr<TaskEpilogs> epilogs_;
    std::shared_ptr<const OciTask> oci_;
    std::string display_, authority_;  // sbatch --x11
    bool finished_ = false;
    wire::ExitStatus exit_;
};

}  // namespace sluice
