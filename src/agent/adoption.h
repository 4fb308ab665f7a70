// agent/adoption.h
//
// The place where pam_slurm_adopt.so asks for the container of a job: a Unix socket that is named
// after the node, so that the module needs neither slurm.conf nor a library. Only root may ask. One
// line is the question, one the answer:
//
//   adopt UID newest    or, where several jobs are no answer: adopt UID only
//   job 12              the process that has asked is in the container of this job now
//   none                the user has no job here
//   several 2           so many, and one had to be named
//   error TEXT
#pragma once

#include <string>

#include "agent/jobs.h"
#include "agent/line_service.h"

namespace sluice {

std::string adoption_socket(std::string_view node);

class Adoption {
public:
    Adoption(EventLoop& loop, Jobs& jobs);
    // With PrologFlags=Contain. A name that is taken is only logged.
    void open(const Site& site);

private:
    std::string answer(const std::string& question, pid_t pid);

    Jobs& jobs_;
    LineService service_;
};

}  // namespace sluice
