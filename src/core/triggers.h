// core/triggers.h
//
// What strigger has set: the triggers, which of them the store has not written yet, and which nodes
// and jobs have changed since they were last compared with the triggers (core/node/trigger.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/job_id.h"
#include "model/trigger.h"

namespace sluice {

class TriggerBook {
public:
    using List = std::vector<Trigger>;  // by id

    const List& all() const { return *list_; }
    std::shared_ptr<const List> shared() const { return list_; }
    bool empty() const { return list_->empty(); }
    const Trigger* find(std::uint32_t id) const;
    std::uint32_t next_id() const { return next_id_; }
    void put(Trigger trigger);  // replaces the one of that id, if any
    void drop(std::uint32_t id);
    // The ids that were put or dropped since the last call.
    std::set<std::uint32_t> take_changed() { return std::exchange(changed_, {}); }
    void restore(std::vector<Trigger> triggers);
    void shift(Seconds by);  // the clock was set

    // Ids are unique and ascending, and each trigger has a subject that fits its event; the text
    // says what is wrong.
    std::optional<std::string> broken() const;

    // Nodes and jobs that were edited. Noted only while there are triggers.
    void note_node(NodeIndex node);
    void note_job(JobId job);
    std::set<NodeIndex> take_noted_nodes() { return std::exchange(noted_nodes_, {}); }
    std::set<JobId> take_noted_jobs() { return std::exchange(noted_jobs_, {}); }

    // What was found at the last comparison. Lost with a restart: nodes and jobs are then compared
    // from the next change on.
    struct NodeView {
        std::uint32_t conditions = 0;       // core/node/trigger.cc
        std::optional<Time> idle_since;     // absent: it is in use, or not available
        std::set<std::uint32_t> idle_told;  // ids of the triggers that were told of this idle time
    };
    std::map<NodeIndex, NodeView>& node_views() { return node_views_; }
    const std::map<NodeIndex, NodeView>& node_views() const { return node_views_; }
    std::map<JobId, std::vector<NodeIndex>>& nodes_of_jobs() { return nodes_of_jobs_; }

private:
    std::shared_ptr<const List> list_ = std::make_shared<List>();
    std::uint32_t next_id_ = 1;
    std::set<std::uint32_t> changed_;
    std::set<NodeIndex> noted_nodes_;
    std::set<JobId> noted_jobs_;
    std::map<NodeIndex, NodeView> node_views_;
    std::map<JobId, std::vector<NodeIndex>> nodes_of_jobs_;  // of jobs with triggers
};

}  // namespace sluice
