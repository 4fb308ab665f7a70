// agent/stage_desk.h
//
// Where `sdata stage` asks inside a job: a Unix socket that is named after the node. One line is
// the question, one the answer:
//
//   stage JOB SRC:NAME    the same text as of --stage-in
//   done                  it is in $SCRATCH of this node
//   error TEXT
#pragma once

#include <string>

#include "agent/jobs.h"
#include "agent/line_service.h"

namespace sluice {

class StageDesk {
public:
    StageDesk(EventLoop& loop, Jobs& jobs);
    // A name that is taken is only logged.
    void open(const Site& site);

private:
    void on_question(const std::string& line, const Peer& peer, const LineService::Answer& say);

    Jobs& jobs_;
    LineService service_;
};

}  // namespace sluice
