// cli/scontrol/controllers.cc
//
// The commands about the controllers themselves: ping, reconfigure, shutdown, show config.
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

Result<std::string> answering_host(Session& session) {
    wire::Request request;
    request.mutable_ping();
    wire::Reply reply = TRY(session.client.call(request));
    return reply.pong().hostname();
}

int print_ping_json(Session& session, const Config& config, const Result<std::string>& host) {
    const Looks looks{.cluster = config.cluster_name};
    const JsonMeta meta = json_meta(session.invocation, looks, *session.json);
    Json json(meta.style);
    json.open_object();
    json.open_list("pings");
    for (std::size_t i = 0; i < config.controllers.size(); ++i) {
        const bool up =
            host && (*host == config.controllers[i].name || config.controllers.size() == 1);
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
        json.close();
    }
    json.close();
    write_json_meta(json, meta);
    json.close();
    session.streams.out(json.take());
    return host ? 0 : 1;
}

}  // namespace

bool append_controllers(Session& session, std::string& out) {
    Result<const Config*> config = session.client.config();
    if (!config) return false;
    const std::vector<ControllerHost>& controllers = (*config)->controllers;
    const Result<std::string> host = answering_host(session);
    for (std::size_t i = 0; i < controllers.size(); ++i) {
        const bool up = host && (*host == controllers[i].name || controllers.size() == 1);
        const std::string role = i == 0                    ? "primary"
                                 : controllers.size() == 2 ? "backup"
                                                           : fmt::format("backup{}", i);
        fmt::format_to(std::back_inserter(out), "Slurmctld({}) at {} is {}\n", role,
                       controllers[i].name, up ? "UP" : "DOWN");
    }
    if (!host) {
        out +=
            "*****************************************\n"
            "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"
            "*****************************************\n";
    }
    return host.has_value();
}

int ping(Session& session) {
    if (!has_configuration(session.invocation, session.client, session.streams)) return 1;
    if (session.json)
        return print_ping_json(session, **session.client.config(), answering_host(session));
    std::string out;
    const bool up = append_controllers(session, out);
    session.streams.out(out);
    return up ? 0 : 1;
}

int reconfigure(Session& session) {
    wire::Request request;
    request.mutable_reconfigure();
    return simple_request(session, request, "slurm_reconfigure");
}

int shut_down(Session& session, bool only_controller) {
    wire::Request request;
    request.mutable_shutdown()->set_only_controller(only_controller);
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
