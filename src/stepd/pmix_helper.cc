#include "stepd/pmix_helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <csignal>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"
#include "os/error.h"
#include "os/files.h"
#include "stepd/login.h"

namespace sluice {

namespace {

constexpr std::size_t kReportMax = sizes::kExchange + (1u << 20);
constexpr std::size_t kErrorTextMax = 64u << 10;  // of the library: passed on to srun
constexpr std::size_t kErrorLineMax = 4096;
constexpr std::chrono::seconds kLeaveWithin{2};

std::string pmix_program() {
    return directory_of(own_program_path()) + "/../libexec/sluice/sluice-pmix";
}

}  // namespace

PmixHelper::PmixHelper(EventLoop& loop, const wire::StepOrder& order, const User& user,
                       const Container& container, Handlers handlers)
    : loop_(loop),
      order_(order),
      user_(user),
      container_(container),
      handlers_(std::move(handlers)),
      reader_(kReportMax) {}

Result<void> PmixHelper::start() {
    int pair[2], errors[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return os_error("socketpair");
    Fd ours(pair[0]), theirs(pair[1]);
    if (pipe2(errors, O_CLOEXEC) != 0) return os_error("pipe");
    Fd error_text(errors[0]);
    TRY(spawn_program(std::move(theirs), Fd(errors[1])));
    stream_ = std::make_unique<Stream>(
        loop_, std::move(ours),
        Stream::Handlers{
            [this](std::string_view bytes) { on_data(bytes); }, [this] { on_gone(); }, {}});
    errors_ = std::make_unique<Stream>(
        loop_, std::move(error_text),
        Stream::Handlers{[this](std::string_view bytes) { on_error_text(bytes); }, [] {}, {}});
    send_setup();
    return {};
}

// Settings of the library are the user's, as in mpirun.
Result<void> PmixHelper::spawn_program(Fd socket, Fd errors) {
    Environment environment = minimal_environment(user_);
    const Environment users = Environment::parse(order_.tasks().spec().environment());
    for (const std::string& entry : users.entries()) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with("PMIX_MCA_") && !entry.starts_with("TMPDIR=")) continue;
        environment.set(entry.substr(0, equals), entry.substr(equals + 1));
    }
    ProcessSpec spec;
    spec.program = pmix_program();
    spec.argv = {fmt::format("sluice-pmix: [{}.{}]", order_.run().job(), order_.run().step())};
    spec.environment = environment.entries();
    spec.directory = "/";
    spec.user = &user_;
    spec.in = socket.get();
    spec.err = errors.get();
    spec.new_session = true;
    spec.cgroups = container_.entries();
    pid_ = TRY(as(ErrorCode::LaunchFailed, spawn(spec)));
    return {};
}

void PmixHelper::send_setup() {
    const wire::LaunchTasks& launch = order_.tasks();
    wire::PmixOrder order;
    wire::PmixSetup& setup = *order.mutable_setup();
    *setup.mutable_run() = order_.run();
    setup.set_node(order_.node());
    setup.set_step_nodes(launch.step_nodes());
    setup.set_process_mapping(launch.process_mapping());
    setup.set_total_tasks(launch.total_tasks());
    setup.set_node_rank(launch.node_rank());
    *setup.mutable_task_ids() = launch.task_ids();
    send(order);
}

void PmixHelper::send(const wire::PmixOrder& order) {
    std::string frame;
    append_frame(frame, order);
    stream_->send(frame);
}

Result<void> PmixHelper::add_task(std::size_t local, Environment& environment, ProcessSpec&) {
    const int index = static_cast<int>(local);
    if (index >= ready_.variables_size()) {
        return Error{ErrorCode::LaunchFailed, "PMIx knows too few tasks"};
    }
    const Environment own = Environment::parse(ready_.variables(index));
    for (const std::string& entry : own.entries()) {
        const std::size_t equals = entry.find('=');
        environment.set(entry.substr(0, equals), entry.substr(equals + 1));
    }
    environment.set("SLURM_PMIX_MAPPING_SERV", order_.tasks().process_mapping());
    return {};
}

Result<void> PmixHelper::on_input(const wire::StepInput& input) {
    if (stream_->backlog() > 2 * sizes::kExchange) {
        return Error{ErrorCode::BadArgument, "more than PMIx can take"};
    }
    wire::PmixOrder order;
    *order.mutable_input() = input;
    send(order);
    return {};
}

void PmixHelper::on_data(std::string_view bytes) {
    reader_.feed(bytes);
    for (;;) {
        auto frame = reader_.next();
        if (frame && !*frame) return;
        Result<wire::PmixReport> report =
            frame ? decode<wire::PmixReport>(**frame) : malformed_message();
        if (!report) {
            stream_->close();
            return on_gone();
        }
        on_report(*report);
    }
}

// It runs with the user's rights: what is passed on is of the three kinds that nodes send each
// other.
void PmixHelper::on_report(const wire::PmixReport& report) {
    if (report.has_ready() && !is_ready_) {
        is_ready_ = true;
        ready_ = report.ready();
        handlers_.on_ready({});
    } else if (report.has_output() && is_ready_) {
        const wire::StepOutput& output = report.output();
        if (output.has_exchange() || output.has_parcel() || output.has_abort()) {
            handlers_.send(output);
        }
    } else if (report.body_case() == wire::PmixReport::kFailure && !is_ready_) {
        is_finished_ = true;
        handlers_.on_ready(Error{ErrorCode::LaunchFailed, "PMIx: " + report.failure()});
    }
}

void PmixHelper::on_gone() {
    if (std::exchange(is_finished_, true)) return;
    if (!is_ready_) {
        return handlers_.on_ready(
            Error{ErrorCode::LaunchFailed, "PMIx cannot be served: sluice-pmix has ended"});
    }
    wire::StepOutput output;
    output.mutable_abort()->set_task(order_.tasks().task_ids(0));
    output.mutable_abort()->set_message(
        fmt::format("has lost PMIx: sluice-pmix of node {} has ended", order_.node()));
    handlers_.send(output);
}

void PmixHelper::on_error_text(std::string_view bytes) {
    for (char each : bytes) {
        if (each != '\n') {
            if (error_line_.size() < kErrorLineMax) error_line_ += each;
            continue;
        }
        error_bytes_ += error_line_.size() + 1;
        if (error_bytes_ <= kErrorTextMax) handlers_.say(error_line_);
        error_line_.clear();
    }
}

bool PmixHelper::on_exit(pid_t pid) {
    if (pid != pid_) return false;
    pid_ = -1;
    if (!stream_->closed()) stream_->close();
    on_gone();
    return true;
}

// It ends when its input does, and removes its files first.
void PmixHelper::finish() {
    is_finished_ = true;
    if (!stream_ || stream_->closed()) return;
    stream_->close();
    loop_.after(kLeaveWithin, [this] {
        if (pid_ > 0) kill(pid_, SIGKILL);
    });
}

}  // namespace sluice
