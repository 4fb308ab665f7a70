// core/job/arrays.h
//
// The tasks of job arrays that have a record of their own, how many of them hold nodes, and what is
// reported of each array as a whole (core/job/mail.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cow_table.h"
#include "model/job.h"
#include "model/mail.h"

namespace sluice {

class Arrays {
public:
    // Records of tasks that were split off, in the order in which they were. The array's own
    // record is among them once it has become the last task.
    std::span<const JobId> tasks(JobId array) const;
    void add_task(JobId array, JobId task) { tasks_[array.value].push_back(task); }
    void remove_task(JobId array, JobId task);

    std::uint32_t running(JobId array) const;  // tasks that hold nodes
    void task_started(JobId array) { ++running_[array.value]; }
    void task_left(JobId array);  // its nodes are clean

    // What is known of the tasks so far: they are deleted before the last one has ended.
    bool note_begin(JobId array);  // returns whether no task had begun before
    void note_requeue(JobId array) { news_[array.value].endings.is_requeued = true; }
    TaskEndings note_end(JobId array, const Job& task);
    void forget_news(JobId array) { news_.erase(array.value); }
    template <typename IsOver>
    void forget_news_if(IsOver is_over) {
        std::erase_if(news_, [&](const auto& entry) { return is_over(JobId{entry.first}); });
    }

    // The tasks are the jobs of their array, and as many of them hold nodes as are counted.
    std::optional<std::string> broken(const CowTable<Job>& jobs) const;

private:
    struct News {
        bool has_begun = false;
        TaskEndings endings;
    };
    std::unordered_map<std::uint32_t, std::vector<JobId>> tasks_;  // by array id, none empty
    std::unordered_map<std::uint32_t, std::uint32_t> running_;     // by array id, none is 0
    std::unordered_map<std::uint32_t, News> news_;                 // by array id
};

// Whether the job is a task of an array with a record of its own.
inline bool is_task_record(const Job& job) {
    return job.array_job && (job.array_task || job.id != *job.array_job);
}

}  // namespace sluice
