// stepd/binding.h
//
// How the tasks of a step are bound to the CPUs and the memory of the node (--cpu-bind, --mem-bind,
// TaskPluginParam), and what they are told of it.
#pragma once

#include <optional>

#include "model/task_cpus.h"
#include "order.pb.h"
#include "os/process.h"
#include "stepd/environment.h"

namespace sluice {

class StepBinding {
public:
    StepBinding() = default;
    // Of the tasks of a step. Fails where --cpu-bind asks for what the step does not have here.
    static Result<StepBinding> of_tasks(const wire::StepOrder& order);

    // Binds the process of one task, and sets its variables. `local` is its place in the order's
    // list of tasks.
    Result<void> apply(std::size_t local, Environment& environment, ProcessSpec& spec) const;

private:
    void set_cpu_variables(Environment& environment) const;
    void set_memory_variables(Environment& environment) const;
    Result<void> bind_memory(std::size_t local, ProcessSpec& spec) const;
    // By the task itself, once it is bound: "cpu-bind=MASK - n1, task  0  0 [4711]: mask 0x3 set".
    std::string lines(std::size_t local) const;

    const wire::StepOrder* order_ = nullptr;  // none: no binding is configured
    TaskBind cpu_bind_;
    TaskBind mem_bind_;
    std::optional<BoundTasks> bound_;  // none: the node's CPUs are not known
};

// A batch script may use all CPUs of its job on the node.
void bind_batch(const wire::StepOrder& order, ProcessSpec& spec);

}  // namespace sluice
