// cli/scontrol/power.cc: scontrol power.
#include "base/text.h"
#include "cli/scontrol/session.h"

namespace sluice {

namespace {

int refuse_power(Session& session, std::string_view text) {
    if (!session.quiet) session.streams.err(fmt::format("{}\n", text));
    return 1;
}

}  // namespace

// power up|down [asap|force] NODES [Reason=TEXT]
int power(Session& session, const Words& words) {
    if (words.size() < 3) return refuse_power(session, "too few arguments for keyword:power");
    const bool is_up = equals_ignoring_case(words[1], "up");
    if (!is_up && !equals_ignoring_case(words[1], "down"))
        return refuse_power(session, fmt::format("invalid argument for power: {}", words[1]));
    std::string state = is_up ? "POWER_UP" : "POWER_DOWN";
    std::size_t next = 2;
    for (std::string_view how : {"asap", "force"}) {
        if (is_up || next != 2 || !equals_ignoring_case(words[2], how)) continue;
        state += "_" + to_upper(how);
        next = 3;
    }
    if (next == words.size()) return refuse_power(session, "Missing node list");
    Words change{"update", "NodeName=" + words[next], "State=" + state};
    for (++next; next < words.size(); ++next) {
        if (!starts_with_ignoring_case(words[next], "reason="))
            return refuse_power(session,
                                fmt::format("invalid argument for power: {}", words[next]));
        change.push_back(words[next]);
    }
    return update(session, change);
}

}  // namespace sluice
