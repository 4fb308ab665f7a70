#include "stepd/binding.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "model/errors.h"
#include "stepd/gpus.h"

namespace sluice {

namespace {

StepCpus cpus_of_step(const wire::TaskBinding& binding) {
    StepCpus step;
    step.whole_node = binding.whole_node();
    const int count = std::min({binding.cpus_size(), binding.sockets_size(), binding.cores_size(),
                                binding.domains_size()});
    for (int i = 0; i < count; ++i) {
        step.cpus.push_back(
            {binding.cpus(i), binding.sockets(i), binding.cores(i), binding.domains(i)});
    }
    return step;
}

// What the step asks for, or else slurm.conf.
Result<TaskBind> cpu_bind_of(const wire::StepOrder& order) {
    const TaskBind configured = TRY(parse_cpu_bind(order.binding().bind()));
    const std::string& text = order.tasks().spec().cpu_bind();
    if (text.empty()) return configured;
    TaskBind bind = TRY(parse_cpu_bind(text));
    if (bind.kind == BindKind::Unset) bind.kind = configured.kind;
    bind.verbose = bind.verbose || configured.verbose;
    return bind;
}

// By task: CPUs close to the GPUs that it sees, where it does not see all.
Result<std::vector<Numbers>> close_cpus(const wire::StepOrder& order) {
    std::vector<Numbers> close;
    if (order.tasks().spec().tres_bind().empty()) return close;
    for (int i = 0; i < order.tasks().task_ids_size(); ++i) {
        Numbers& cpus = close.emplace_back();
        const TaskDevices devices = TRY(devices_of_task(order, static_cast<std::size_t>(i)));
        for (const wire::CloseCpus& gpu : order.binding().gpus()) {
            if (std::find(devices.gpus.begin(), devices.gpus.end(), gpu.gpu()) ==
                devices.gpus.end())
                continue;
            cpus.insert(cpus.end(), gpu.cpus().begin(), gpu.cpus().end());
        }
    }
    return close;
}

Result<BoundTasks> bind_all(const wire::StepOrder& order, const TaskBind& bind) {
    const wire::TaskSpec& spec = order.tasks().spec();
    BindDemand demand;
    demand.bind = bind;
    if (!order.binding().autobind().empty()) {
        demand.fallback = TRY(parse_cpu_bind(order.binding().autobind())).kind;
    }
    demand.tasks = static_cast<std::size_t>(order.tasks().task_ids_size());
    demand.cpus_per_task = std::max(1u, spec.cpus_per_task());
    demand.one_thread_per_core = spec.one_thread_per_core();
    demand.distribution = cpu_distribution_of(spec.distribution());
    demand.near = TRY(close_cpus(order));
    return bind_tasks(cpus_of_step(order.binding()), demand);
}

// Compat: Slurm's names; masks that were made for the tasks are masks like others.
std::string_view cpu_label(BindKind kind, bool whole_node) {
    switch (kind) {
        case BindKind::None:
            return whole_node ? "NONE" : "MASK";
        case BindKind::Map:
            return "MAP ";
        case BindKind::DomainRank:
            return "LDRANK";
        case BindKind::DomainMap:
            return "LDMAP ";
        case BindKind::DomainMask:
            return "LDMASK";
        default:
            return "MASK";
    }
}

std::string_view memory_label(BindKind kind) {
    switch (kind) {
        case BindKind::None:
            return "NONE";
        case BindKind::Rank:
            return "RANK";
        case BindKind::Local:
            return "LOC";
        case BindKind::Map:
            return "MAP";
        case BindKind::Mask:
            return "MASK";
        default:
            return "NULL";
    }
}

std::string_view verbosity(const TaskBind& bind) {
    return bind.verbose ? "verbose" : "quiet";
}

bool binds_memory(BindKind kind) {
    return kind != BindKind::Unset && kind != BindKind::None;
}

}  // namespace

Result<StepBinding> StepBinding::of_tasks(const wire::StepOrder& order) {
    StepBinding binding;
    if (!order.binding().affinity()) return binding;
    binding.order_ = &order;
    binding.cpu_bind_ = TRY(cpu_bind_of(order));
    if (const std::string& memory = order.tasks().spec().mem_bind(); !memory.empty()) {
        binding.mem_bind_ = TRY(parse_mem_bind(memory));
    }
    if (order.binding().cpus_size() > 0) binding.bound_ = TRY(bind_all(order, binding.cpu_bind_));
    return binding;
}

Result<void> StepBinding::apply(std::size_t local, Environment& environment,
                                ProcessSpec& spec) const {
    if (!order_) return {};
    if (bound_) spec.cpus = bound_->cpus[local];
    TRY(bind_memory(local, spec));
    if (!order_->tasks().spec().interactive()) {
        set_cpu_variables(environment);
        set_memory_variables(environment);
    }
    if (cpu_bind_.verbose || mem_bind_.verbose) {
        spec.bound_preface = [this, local] { return lines(local); };
    }
    return {};
}

// Compat: where masks were made, the task is told those of all tasks of its node.
void StepBinding::set_cpu_variables(Environment& environment) const {
    if (!bound_) return;
    const bool is_written = !cpu_bind_.list.empty() || bound_->kind == BindKind::DomainRank;
    std::string list = cpu_bind_.list;
    if (!is_written) {
        const std::size_t digits = (order_->binding().machine_cpus() + 3) / 4;
        for (const Numbers& cpus : bound_->cpus) {
            if (!list.empty()) list += ',';
            list += print_mask(cpus, digits);
        }
    }
    const std::string_view type = cpu_bind_word(is_written ? bound_->kind : BindKind::Mask);
    environment.set("SLURM_CPU_BIND", fmt::format("{},{}{}", verbosity(cpu_bind_), type, list));
    environment.set("SLURM_CPU_BIND_VERBOSE", verbosity(cpu_bind_));
    environment.set("SLURM_CPU_BIND_TYPE", type);
    environment.set("SLURM_CPU_BIND_LIST", list);
}

void StepBinding::set_memory_variables(Environment& environment) const {
    if (mem_bind_.kind == BindKind::Unset) return;
    const std::string_view type = mem_bind_word(mem_bind_.kind);
    environment.set("SLURM_MEM_BIND",
                    fmt::format("{},{}{}{}", verbosity(mem_bind_),
                                mem_bind_.prefer ? "prefer," : "", type, mem_bind_.list));
    environment.set("SLURM_MEM_BIND_VERBOSE", verbosity(mem_bind_));
    environment.set("SLURM_MEM_BIND_TYPE", type);
    environment.set("SLURM_MEM_BIND_LIST", mem_bind_.list);
    if (mem_bind_.prefer) environment.set("SLURM_MEM_BIND_PREFER", "prefer");
}

Result<void> StepBinding::bind_memory(std::size_t local, ProcessSpec& spec) const {
    if (!binds_memory(mem_bind_.kind)) return {};
    if (mem_bind_.kind == BindKind::Local) {
        spec.memory_policy = MemoryPolicy::Local;
        return {};
    }
    const Numbers known = memory_domains();
    Numbers wanted = {static_cast<std::uint32_t>(local)};
    if (!mem_bind_.listed.empty()) wanted = mem_bind_.listed[local % mem_bind_.listed.size()];
    for (std::uint32_t domain : wanted) {
        if (std::find(known.begin(), known.end(), domain) != known.end()) continue;
        const std::string_view word = mem_bind_word(mem_bind_.kind);
        return Error{ErrorCode::LaunchFailed,
                     fmt::format("NUMA node {} does not exist; cannot bind local task {} to it "
                                 "(--mem-bind={})",
                                 domain, local, word.substr(0, word.find(':')))};
    }
    if (wanted.empty()) return {};
    spec.memory_policy = mem_bind_.prefer ? MemoryPolicy::Prefer : MemoryPolicy::Bind;
    spec.memory_domains = wanted;
    return {};
}

std::string StepBinding::lines(std::size_t local) const {
    const std::string task =
        fmt::format("{}, task {:2} {:2} [{}]: mask", order_->node(),
                    order_->tasks().task_ids(static_cast<int>(local)), local, getpid());
    std::string text;
    if (cpu_bind_.verbose) {
        const std::string_view label =
            bound_ ? cpu_label(bound_->kind, order_->binding().whole_node()) : "NONE";
        text += fmt::format("cpu-bind={} - {} {}{}\n", label, task,
                            to_lower(print_mask(cpus_of(0))), label == "NONE" ? "" : " set");
    }
    if (mem_bind_.verbose) {
        text +=
            fmt::format("mem-bind{}{} - {} {}{}\n", mem_bind_.prefer ? " PREFER " : "=",
                        memory_label(mem_bind_.kind), task, to_lower(print_mask(memory_domains())),
                        binds_memory(mem_bind_.kind) ? " set" : "");
    }
    return text;
}

void bind_batch(const wire::StepOrder& order, ProcessSpec& spec) {
    spec.cpus = {order.binding().cpus().begin(), order.binding().cpus().end()};
}

}  // namespace sluice
