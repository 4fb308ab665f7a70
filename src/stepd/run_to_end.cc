#include "stepd/run_to_end.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fd.h"
#include "os/process.h"

namespace sluice {

ProgramOutcome run_to_end(const std::string& program, const std::vector<std::string>& argv,
                          const std::vector<std::string>& environment) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {1, {}};
    Fd reader(ends[0]), writer(ends[1]);
    ProcessSpec spec;
    spec.program = program;
    spec.argv = argv;
    spec.environment = environment;
    spec.out = spec.err = writer.get();
    spec.new_group = true;
    Result<pid_t> pid = spawn(spec);
    writer.reset();
    if (!pid) return {1, {}};
    ProgramOutcome outcome;
    char buffer[4096];
    for (ssize_t count; (count = read(reader.get(), buffer, sizeof buffer)) > 0;) {
        outcome.output.append(buffer, static_cast<std::size_t>(count));
    }
    int status = 0;
    waitpid(*pid, &status, 0);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return outcome;
}

}  // namespace sluice
