// See gpus.h.
#include "stepd/gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/gpu_bind.h"
#include "model/task_bind.h"
#include "protocol/convert.h"
#include "stepd/gpu_variables.h"

namespace sluice {

namespace {

// Compat: the words of Slurm's line, in its order; local_inx is always 0 there.
std::string binding_line(const wire::StepOrder& order, const std::vector<std::uint32_t>& gpus) {
    return fmt::format(
        "gpu-bind: usable_gres={}; bit_alloc={}; local_inx=0; global_list={}; local_list={}\n",
        print_mask(gpus), print_mask(gpus_of(order.share())), fmt::join(gpus, ","),
        fmt::join(visible_numbers(order, gpus), ","));
}

}  // namespace

Result<TaskDevices> devices_of_task(const wire::StepOrder& order, std::size_t local) {
    const wire::LaunchTasks& launch = order.tasks();
    StepGpus step{.all = gpus_of(order.share()),
                  .close = {order.close_gpus().begin(), order.close_gpus().end()},
                  .relative = order.confinement().devices_constrained(),
                  .tasks = static_cast<std::size_t>(launch.task_ids_size())};
    const std::string& demand = launch.spec().tres_bind();
    if (demand.empty()) return TaskDevices{.gpus = step.all, .complaints = {}, .binding = {}};
    const GpuBind bind = TRY(parse_tres_bind(demand));
    TaskGpus task = gpus_of_task(bind, step, local);
    TaskDevices devices;
    if (task.too_few) devices.complaints.emplace_back("Not enough gpus to bind for gpus per task");
    if (task.fell_back) {
        devices.complaints.push_back(fmt::format(
            "Bind request {} does not specify any devices within the allocation for task {}. "
            "Binding to the first device in the allocation instead.",
            demand, launch.task_ids(static_cast<int>(local))));
    }
    const bool is_bound = bind.kind != GpuBind::Kind::None && step.tasks > 1;
    if (bind.verbose && is_bound && !task.gpus.empty()) {
        devices.binding = binding_line(order, task.gpus);
    }
    devices.gpus = std::move(task.gpus);
    return devices;
}

}  // namespace sluice
