// core/question.h
//
// Questions about the plan: swhy, sbatch --test-only. They change nothing and may take long, so the
// core's thread does not answer them: it makes a copy of what they need, and other threads answer.
// The answer depends on the copy, the time and the question only.
#pragma once

#include "core/cluster.h"

namespace sluice {

bool is_question(const Event& event);
// `question` is one. The cluster is a copy for questions, or its layout is up to date.
Answer answer_to(const Cluster& cluster, Time now, const Event& question);

}  // namespace sluice
