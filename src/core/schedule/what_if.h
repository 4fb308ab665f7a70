// core/schedule/what_if.h
//
// Suggests smaller requests. Each candidate is a whole request that is placed on a copy of the plan
// like any other, so a suggested one would really start now.
#pragma once

#include <functional>
#include <map>

#include "core/schedule/explain.h"

namespace sluice {

class WhatIf {
public:
    explicit WhatIf(const Question& question)
        : question_(question),
          roomy_(nodes_with_room(question)),
          behind_(question.planner, bookings_behind(question, roomy_)),
          finder_(question.planner, question.cluster.scheduler().layout) {}

    std::vector<Explanation::Change> answer();
    // Whether there is room for the job as it is, ignoring licences.
    bool has_room();

private:
    struct Draft {
        std::shared_ptr<JobTerms> request;
        TimeLimit time_limit;
        std::vector<std::string> partitions;
        Shape& shape() { return request->shape; }
    };

    struct Way {
        double given_up;  // between 0 and 1
        Explanation::Change change;
    };

    using Edit = std::function<void(Draft&, std::uint64_t)>;
    using Print = std::function<std::string(Draft&)>;

    Draft draft() const;
    std::optional<Explanation::Change> try_now(const Draft& draft);
    Choice choose(const Spot& spot, const Need& need, const Job& job, TimeLimit limit);
    bool add(Draft draft, std::string option, double given_up);
    // The largest amount, below the requested one, with which it starts now.
    void add_most(std::uint64_t wanted, std::uint64_t unit, const Edit& edit, const Print& print);
    void add_shorter();
    void add_devices();
    void add_fewer_of(std::vector<GresCount> Shape::*demands, std::size_t index,
                      std::string_view option);
    void add_other_types(std::vector<GresCount> Shape::*demands, std::size_t index,
                         std::string_view option);
    void add_less_memory();
    void add_fewer_tasks();
    void add_fewer_licenses();
    void add_dropped();
    void add_partitions();
    void add_reservations();
    void add_halved();

    static std::vector<bool> nodes_with_room(const Question& question);
    static std::vector<Planner::Number> bookings_behind(const Question& question,
                                                        const std::vector<bool>& nodes);
    const std::vector<NodeIndex>& nodes_of(const Spot& spot);

    const Question& question_;
    std::vector<bool> roomy_;  // by node index
    HiddenBookings behind_;    // bookings of jobs behind this one
    StartFinder finder_;
    std::map<const Partition*, std::vector<NodeIndex>> roomy_in_;
    std::vector<Way> found_;
};

}  // namespace sluice
