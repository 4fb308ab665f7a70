// Which function handles which event.
#include "node/apply.h"

#include "node/handlers.h"

namespace sluice {

namespace {

struct Handle {
    const Deciding& on;

    void operator()(const BatchOrdered& event) const { on_batch_ordered(on, event); }
    void operator()(const PrepareOrdered& event) const { on_prepare_ordered(on, event); }
    void operator()(const StepBrought& event) const { on_step_brought(on, event); }
    void operator()(const SignalOrdered& event) const { on_signal_ordered(on, event); }
    void operator()(const EndOrdered& event) const { on_end_ordered(on, event); }
    void operator()(const ReportStored& event) const { on_report_stored(on, event); }
    void operator()(const PrologEnded& event) const { on_prolog_ended(on, event); }
    void operator()(const DataTaskEnded& event) const { on_data_task_ended(on, event); }
    void operator()(const FinalSyncEnded& event) const { on_final_sync_ended(on, event); }
    void operator()(const EpilogEnded& event) const { on_epilog_ended(on, event); }
    void operator()(const SpawnFailed& event) const { on_spawn_failed(on, event); }
    void operator()(const LeftoversGone& event) const { on_leftovers_gone(on, event); }
    void operator()(const NodeTimerDue&) const { on_timer(on); }
    void operator()(const SupervisorStarted& event) const { on_supervisor_started(on, event); }
    void operator()(const SupervisorState& event) const { on_supervisor_state(on, event); }
    void operator()(const SupervisorKilling& event) const { on_supervisor_killing(on, event); }
    void operator()(const SupervisorEnded& event) const { on_supervisor_ended(on, event); }
    void operator()(const SupervisorGone& event) const { on_supervisor_gone(on, event); }
    void operator()(const SpoolRead& event) const { on_spool_read(on, event); }
};

}  // namespace

void apply(NodeState& state, const NodeTime& now, const NodeEvent& event, NodeEffects& effects) {
    std::visit(Handle{{state, now, effects}}, event);
}

}  // namespace sluice
