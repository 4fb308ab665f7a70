// cli/scontrol/controllers.cc
//
// The commands about the controllers themselves: ping, reconfigure, shutdown, takeover, show
// config.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/times.h"
#include "surface/json.h"

namespace sluice {

namespace {

int simple_request(Session& session, const wire::Request& request, std::string_view function) {
    if (Result<wire::Reply> reply = session.client.call(request); !reply) {
        print_api_error(session.streams, function, reply.error());
        return 1;
    }
    return 0;
}

wire::Request ping_request() {
    wire::Request request;
    request.mutable_ping();
    return request;
}

// What each controller answers to a ping, in the order of slurm.conf.
std::vector<Result<wire::Pong>> ping_all(Session& session, const Config& config) {
    std::vector<Result<wire::Pong>> pongs;
    for (std::size_t i = 0; i < config.controllers.size(); ++i) {
        const auto reply = config.controllers.size() == 1
                               ? session.client.call(ping_request())
                               : session.client.call_controller(i, ping_request());
        pongs.push_back(reply ? Result<wire::Pong>(reply->pong()) : reply.error());
    }
    return pongs;
}

bool any_is_up(const std::vector<Result<wire::Pong>>& pongs) {
    return std::any_of(pongs.begin(), pongs.end(),
                       [](const auto& pong) { return pong.has_value(); });
}

int print_ping_json(Session& session, const Config& config) {
    const std::vector<Result<wire::Pong>> pongs = ping_all(session, config);
    const Looks looks{.cluster = config.cluster_name};
    const JsonMeta meta = json_meta(session.invocation, looks, *session.json);
    Json json(meta.style);
    json.open_object();
    json.open_list("pings");
    for (std::size_t i = 0; i < config.controllers.size(); ++i) {
        const bool up = pongs[i].has_value();
        json.open_object();
        json.text("hostname", config.controllers[i].name);
        if (json.version() < 45) json.text("pinged", up ? "UP" : "DOWN");
        json.boolean("responding", up);
        json.number("latency", 0);
        json.boolean("primary", i == 0);
        if (json.version() < 45) {
            json.text("mode", i == 0 ? "primary" : fmt::format("backup{}", i));
        } else {
            json.text("status", up ? "UP" : "DOWN");
        }
        if (pongs.size() > 1) json.boolean("active", up && !pongs[i]->standby());
        json.close();
    }
    json.close();
    write_json_meta(json, meta);
    json.close();
    session.streams.out(json.take());
    return any_is_up(pongs) ? 0 : 1;
}

}  // namespace

// Compat: the first lines. Which one is active is shown where there is a choice.
bool append_controllers(Session& session, std::string& out) {
    Result<const Config*> config = session.client.config();
    if (!config) return false;
    const std::vector<ControllerHost>& controllers = (*config)->controllers;
    const std::vector<Result<wire::Pong>> pongs = ping_all(session, **config);
    std::string active = "none", troubles;
    for (std::size_t i = 0; i < controllers.size(); ++i) {
        const std::string role = i == 0                    ? "primary"
                                 : controllers.size() == 2 ? "backup"
                                                           : fmt::format("backup{}", i);
        fmt::format_to(std::back_inserter(out), "Slurmctld({}) at {} is {}\n", role,
                       controllers[i].name, pongs[i] ? "UP" : "DOWN");
        if (pongs[i] && !pongs[i]->standby()) active = controllers[i].name;
        if (pongs[i] && !pongs[i]->trouble().empty())
            troubles +=
                fmt::format("{} cannot take over: {}\n", controllers[i].name, pongs[i]->trouble());
    }
    if (!any_is_up(pongs)) {
        out +=
            "*****************************************\n"
            "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"
            "*****************************************\n";
    } else if (pongs.size() > 1) {
        out += fmt::format("Active controller: {}\n{}", active, troubles);
    }
    return any_is_up(pongs);
}

int ping(Session& session) {
    if (!has_configuration(session.invocation, session.client, session.streams)) return 1;
    if (session.json) return print_ping_json(session, **session.client.config());
    std::string out;
    const bool up = append_controllers(session, out);
    session.streams.out(out);
    return up ? 0 : 1;
}

namespace {

// Those in standby, as far as they answer.
int tell_standbys(Session& session, const wire::Request& request, std::string_view function) {
    const Config& config = **session.client.config();
    if (config.controllers.size() == 1) return 0;
    const std::vector<Result<wire::Pong>> pongs = ping_all(session, config);
    int status = 0;
    for (std::size_t i = 0; i < pongs.size(); ++i) {
        if (!pongs[i] || !pongs[i]->standby()) continue;
        const auto reply = session.client.call_controller(i, request);
        if (reply) continue;
        print_api_error(session.streams,
                        fmt::format("{}: {}", config.controllers[i].name, function), reply.error());
        status = 1;
    }
    return status;
}

constexpr auto kTakeoverMost = std::chrono::seconds(30);
constexpr auto kTakeoverLook = std::chrono::milliseconds(20);

// Until that controller is the active one.
bool wait_until_active(Session& session, std::size_t place) {
    const auto deadline = std::chrono::steady_clock::now() + kTakeoverMost;
    while (std::chrono::steady_clock::now() < deadline) {
        const auto reply = session.client.call_controller(place, ping_request());
        if (reply && !reply->pong().standby()) return true;
        std::this_thread::sleep_for(kTakeoverLook);
    }
    return false;
}

}  // namespace

// Compat: without a number, the first backup.
int take_over(Session& session, const std::string* place_text) {
    if (!has_configuration(session.invocation, session.client, session.streams)) return 1;
    const std::vector<ControllerHost>& controllers = (*session.client.config())->controllers;
    const auto place = place_text ? to_number(*place_text) : std::optional<std::uint64_t>(1);
    const auto refuse = [&](const std::string& text) {
        print_error(session.streams, session.invocation, text);
        return 1;
    };
    if (controllers.size() == 1) return refuse("takeover: slurm.conf has no backup controller");
    if (!place || *place >= controllers.size()) {
        return refuse(fmt::format("takeover {}: expected the number of a controller from 0 to {}",
                                  place_text ? *place_text : "", controllers.size() - 1));
    }
    wire::Request request;
    request.set_take_over(controllers[*place].name);
    if (const auto asked = session.client.call_controller(*place, request); !asked) {
        print_api_error(session.streams, "slurm_takeover", asked.error());
        return 1;
    }
    if (wait_until_active(session, *place)) return 0;
    return refuse(fmt::format("takeover: {} has not become the active controller within {} s",
                              controllers[*place].name, kTakeoverMost.count()));
}

int reconfigure(Session& session) {
    wire::Request request;
    request.mutable_reconfigure();
    if (!has_configuration(session.invocation, session.client, session.streams)) return 1;
    const int status = simple_request(session, request, "slurm_reconfigure");
    return status != 0 ? status : tell_standbys(session, request, "slurm_reconfigure");
}

int shut_down(Session& session, bool only_controller) {
    wire::Request request;
    request.mutable_shutdown()->set_only_controller(only_controller);
    if (!has_configuration(session.invocation, session.client, session.streams)) return 1;
    // First those that would take over.
    if (const int status = tell_standbys(session, request, "slurm_shutdown")) return status;
    return simple_request(session, request, "slurm_shutdown");
}

int show_damaged(Session& session) {
    wire::Request request;
    request.mutable_show_damaged();
    Result<wire::Reply> reply = session.client.call(request);
    if (!reply) {
        print_api_error(session.streams, "scontrol show damaged", reply.error());
        return 1;
    }
    session.streams.out(reply->text().text().empty() ? "No damaged records\n"
                                                     : reply->text().text());
    return 0;
}

int show_config(Session& session, const std::string* key) {
    wire::Request request;
    request.mutable_show_config();
    Result<wire::Reply> reply = session.client.call(request);
    if (!reply) {
        print_api_error(session.streams, "slurm_load_ctl_conf", reply.error());
        return 1;
    }
    std::string out = fmt::format("Configuration data as of {}\n", print_moment(session.now));
    std::string_view text = reply->text().text();
    while (text.ends_with('\n')) text.remove_suffix(1);
    for (std::string_view line : split(text, '\n')) {
        if (key && !starts_with_ignoring_case(line, *key)) continue;
        out.append(line).append("\n");
    }
    out += '\n';
    append_controllers(session, out);
    session.streams.out(out);
    return 0;
}

}  // namespace sluice
