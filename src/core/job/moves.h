// core/job/moves.h
//
// Every legal move between job states, in one place; move_to() CHECKs the table.
#pragma once

#include "model/job.h"

namespace sluice {

bool is_legal_move(JobState from, JobState to);
void move_to(Job& job, JobState to);

}  // namespace sluice
