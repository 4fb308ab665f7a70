// model/signals.cc: the signals that Slurm knows by name, and --signal.
#include "model/signals.h"

#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {

namespace {

struct Row {
    int number;
    std::string_view name;
};

// Compat: Slurm refuses the names that are not here (SEGV, CHLD, IO, ...); their numbers work.
constexpr Row kSignals[] = {
    {SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGABRT, "ABRT"},
    {SIGKILL, "KILL"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGALRM, "ALRM"},
    {SIGTERM, "TERM"}, {SIGCONT, "CONT"}, {SIGSTOP, "STOP"}, {SIGTSTP, "TSTP"},
    {SIGTTIN, "TTIN"}, {SIGTTOU, "TTOU"}, {SIGURG, "URG"},   {SIGXCPU, "XCPU"},
};

constexpr int kSignalMax = 64;
constexpr std::uint64_t kWarnSecondsMax = 65535;

Error bad_signal(std::string_view text) {
    return {ErrorCode::InvalidSignal, fmt::format("\"{}\"", text)};
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
    if (std::optional<std::uint64_t> number = to_number(text)) {
        if (*number < 1 || *number > kSignalMax) return bad_signal(text);
        return static_cast<int>(*number);
    }
    std::string_view name = text;
    if (starts_with_ignoring_case(name, "SIG")) name.remove_prefix(3);
    for (const Row& row : kSignals) {
        if (equals_ignoring_case(row.name, name)) return row.number;
    }
    return bad_signal(text);
}

std::string_view signal_name(int signal) {
    for (const Row& row : kSignals) {
        if (row.number == signal) return row.name;
    }
    return "";
}

Result<WarnSignal> parse_warn_signal(std::string_view text) {
    WarnSignal warn;
    std::string_view rest = text;
    if (std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
        for (char flag : to_lower(rest.substr(0, colon))) {
            if (flag != 'b' && flag != 'r') return bad_signal(text);
            (flag == 'b' ? warn.batch_shell_only : warn.allow_reservation) = true;
        }
        rest.remove_prefix(colon + 1);
    }
    std::size_t at = rest.find('@');
    Result<int> signal = parse_signal(rest.substr(0, at));
    if (!signal) return bad_signal(text);
    warn.signal = *signal;
    if (at == std::string_view::npos) return warn;
    std::optional<std::uint64_t> seconds = to_number(rest.substr(at + 1));
    if (!seconds || *seconds > kWarnSecondsMax) return bad_signal(text);
    warn.before = Seconds(*seconds);
    return warn;
}

}  // namespace sluice
