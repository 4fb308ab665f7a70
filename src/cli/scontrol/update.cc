// cli/scontrol/update.cc
//
// scontrol update, create and delete. The keys and their values are parsed here, by the tables of
// model/*_keys.cc; the controller checks what depends on the state of the cluster.
#include <algorithm>

#include "base/text.h"
#include "cli/common/listing.h"
#include "cli/scontrol/session.h"
#include "model/errors.h"
#include "model/job_id.h"
#include "model/job_keys.h"
#include "model/node_keys.h"
#include "model/partition_keys.h"
#include "protocol/convert.h"

namespace sluice {

namespace {

struct Entity {
    std::string_view key;  // any case
    wire::Update::Entity entity;
};

constexpr Entity kEntities[] = {
    {"jobid", wire::Update::JOB},           {"job", wire::Update::JOB},
    {"stepid", wire::Update::JOB},          {"nodename", wire::Update::NODE},
    {"node", wire::Update::NODE},           {"partitionname", wire::Update::PARTITION},
    {"partition", wire::Update::PARTITION},
};

const Entity* find_entity(std::string_view key) {
    for (const Entity& each : kEntities) {
        if (equals_ignoring_case(each.key, key)) return &each;
    }
    return nullptr;
}

// "PartitionName=x", "partition"
const Entity* entity_in(std::string_view word) {
    return find_entity(word.substr(0, word.find('=')));
}

// What is changed may be named anywhere among the keys; then that comes first. A partition is also
// a property of jobs and reservations, and a reservation one of jobs.
Words with_entity_first(Words words) {
    if (words.size() < 2 || is_about_reservation(words)) return words;
    for (std::string_view key :
         {"StepId=", "JobId=", "NodeName=", "ReservationName=", "PartitionName="}) {
        auto named = std::find_if(words.begin() + 1, words.end(), [&](const std::string& word) {
            return equals_ignoring_case(std::string_view(word).substr(0, word.find('=') + 1), key);
        });
        if (named == words.end()) continue;
        std::rotate(words.begin() + 1, named, named + 1);
        break;
    }
    return words;
}

// "update job 12 key=value ..." and "update JobId=12 key=value ...".
Result<UpdateWords> parse_update(const Words& words) {
    UpdateWords update;
    std::size_t next = 1;
    const std::size_t equals = words[1].find('=');
    const Entity* entity = entity_in(words[1]);
    if (!entity) return Error{ErrorCode::NotFound, words[1]};
    update.entity = entity->entity;
    if (equals != std::string::npos) {
        update.name = words[1].substr(equals + 1);
        next = 2;
    } else if (words.size() > 2) {
        update.name = words[2];
        next = 3;
    } else {
        return Error{ErrorCode::NotFound, words[1]};
    }
    for (; next < words.size(); ++next) {
        const std::size_t at = words[next].find('=');
        if (equals_ignoring_case(words[next], "nice")) {  // alone it means this much
            update.changes.emplace_back("Nice", "100");
            continue;
        }
        if (at == std::string::npos) return Error{ErrorCode::BadArgument, words[next]};
        update.changes.emplace_back(words[next].substr(0, at), words[next].substr(at + 1));
    }
    return update;
}

// Compat: a node without a reason is refused before any other error of its fields.
bool lacks_reason(const UpdateWords& update) {
    bool needs_reason = false;
    for (const auto& [key, value] : update.changes) {
        if (equals_ignoring_case(key, "reason") && !value.empty()) return false;
        if (!equals_ignoring_case(key, "state")) continue;
        needs_reason = equals_ignoring_case(value, "DOWN") ||
                       equals_ignoring_case(value, "DRAIN") || equals_ignoring_case(value, "FAIL");
    }
    return update.entity == wire::Update::NODE && needs_reason;
}

Result<std::string> encoded_change(const UpdateWords& update, Time now) {
    if (update.entity == wire::Update::PARTITION)
        return encode(TRY(parse_partition_change(update.changes)));
    if (update.entity == wire::Update::NODE) return encode(TRY(parse_node_change(update.changes)));
    return encode(TRY(parse_job_change(update.changes, now)));
}

Result<wire::Reply> send(Session& session, const UpdateWords& update,
                         wire::Update::Verb verb = wire::Update::CHANGE) {
    wire::Request request;
    wire::Update& message = *request.mutable_update();
    message.set_entity(update.entity);
    message.set_name(update.name);
    message.set_verb(verb);
    message.set_change(TRY(encoded_change(update, session.now)));
    return session.client.call(request);
}

// The keys of a NodeName line are read by the controller, which knows GresTypes.
Result<wire::Reply> send_definition(Session& session, const Words& words) {
    wire::Request request;
    wire::Update& message = *request.mutable_update();
    message.set_entity(wire::Update::NODE);
    message.set_verb(wire::Update::CREATE);
    std::string line;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        if (equals == std::string::npos || words[i].find('"') != std::string::npos)
            return Error{ErrorCode::BadArgument, words[i]};
        const std::string value = words[i].substr(equals + 1);
        const bool is_quoted = value.find_first_of(" \t#") != std::string::npos;
        const std::string_view quote = is_quoted ? "\"" : "";
        line += fmt::format("{}={}{}{} ", words[i].substr(0, equals), quote, value, quote);
    }
    message.set_definition(line);
    return session.client.call(request);
}

int too_few(Session& session, std::string_view keyword) {
    session.streams.err(fmt::format("too few arguments for {} keyword\n", keyword));
    return 1;
}

bool is_wrong_word(const Error& error) {
    return error.code == ErrorCode::BadArgument || error.code == ErrorCode::NotSupported;
}

// A wrong word is the tool's own error; any other is that of `request`.
int refuse(Session& session, std::string_view request, const Error& error) {
    if (session.quiet) return 1;
    if (is_wrong_word(error)) {
        print_error(session.streams, session.invocation, to_string(error));
    } else {
        session.streams.err(fmt::format("{}: {}\n", request, to_string(error)));
    }
    return 1;
}

int report(Session& session, const UpdateWords& update, const Error& error) {
    if (!session.quiet && refuse_field(session, update, error)) return 1;
    if (session.quiet || is_wrong_word(error) || update.entity != wire::Update::JOB) {
        return refuse(session, "slurm_update error", error);
    }
    session.streams.err(fmt::format("{} for job {}\n", to_string(error), update.name));
    return 1;
}

bool is_about_step(const Words& words) {
    return equals_ignoring_case(std::string_view(words[1]).substr(0, words[1].find('=')), "stepid");
}

// A step has a time limit that can be changed, and nothing else.
int update_step(Session& session, const UpdateWords& update) {
    for (const auto& [key, value] : update.changes) {
        if (equals_ignoring_case(key.substr(0, key.find_last_not_of("+-") + 1), "TimeLimit"))
            continue;
        session.streams.err(fmt::format(
            "Update of this parameter is not supported: {}={}\nRequest aborted\n", key, value));
        return 1;
    }
    Result<JobRef> step = parse_job_ref(update.name);
    if (!step || !step->step) {
        session.streams.err(fmt::format("StepId={}: expected JOB.STEP\n", update.name));
        return 1;
    }
    Result<wire::Reply> reply = send(session, update);
    if (reply) return 0;
    if (!session.quiet && refuse_field(session, update, reply.error())) return 1;
    return refuse(session, "slurm_update error", reply.error());
}

}  // namespace

int update(Session& session, const Words& given) {
    const Words words = with_entity_first(given);
    if (words.size() < 2) return too_few(session, "update");
    if (is_about_reservation(words)) return update_reservation(session, words);
    Result<UpdateWords> update = parse_update(words);
    if (!update && update.error().code == ErrorCode::NotFound) {
        session.streams.err(
            "No valid entity in update command\nInput line must include \"NodeName\", "
            "\"PartitionName\", \"Reservation\", \"JobId\", or \"SlurmctldDebug\"\n");
        return 1;
    }
    if (!update) {
        refuse_word(session, entity_in(words[1])->entity, update.error().detail);
        return 1;
    }
    if (update->changes.empty()) {
        constexpr std::string_view kNone = "No changes specified";
        if (update->entity == wire::Update::PARTITION) {
            print_error(session.streams, session.invocation, kNone);
        } else {
            session.streams.err(fmt::format("{}\n", kNone));
        }
        return 1;
    }
    if (is_about_step(words)) return update_step(session, *update);
    if (lacks_reason(*update)) {
        session.streams.err(
            "You must specify a reason when DOWNING or DRAINING a node. Request denied\n");
        return 1;
    }
    Result<wire::Reply> reply = send(session, *update);
    if (!reply) return report(session, *update, reply.error());
    int code = 0;
    for (const wire::JobResult& result : reply->results().results()) {
        if (!result.has_error()) continue;
        code = report(session, *update,
                      {static_cast<ErrorCode>(result.error().code()), result.error().detail()});
    }
    return code == 0 ? write_resize_scripts(session, *update) : code;
}

int create(Session& session, const Words& given) {
    constexpr std::string_view kRequest = "Error creating the partition";
    const Words words = with_entity_first(given);
    if (words.size() < 2) return too_few(session, "create");
    if (is_about_reservation(words)) return create_reservation(session, words);
    const Entity* entity = entity_in(words[1]);
    if (!entity || entity->entity == wire::Update::JOB) {
        print_error(session.streams, session.invocation,
                    fmt::format("Invalid creation entity: {}", words[1]));
        return 1;
    }
    if (entity->entity == wire::Update::NODE) {
        Result<wire::Reply> reply = send_definition(session, words);
        return reply ? 0 : refuse(session, "Error creating node(s)", reply.error());
    }
    Result<UpdateWords> wanted = parse_update(words);
    if (!wanted) {
        refuse_word(session, entity->entity, wanted.error().detail);
        return 1;
    }
    Result<wire::Reply> reply = send(session, *wanted, wire::Update::CREATE);
    if (reply) return 0;
    if (!session.quiet && refuse_field(session, *wanted, reply.error())) return 1;
    return refuse(session, kRequest, reply.error());
}

int remove(Session& session, const Words& words) {
    if (words.size() < 2) return too_few(session, "delete");
    if (is_about_reservation(words)) return delete_reservation(session, words);
    const Entity* entity = entity_in(words[1]);
    const std::size_t words_needed = words[1].find('=') == std::string::npos ? 3 : 2;
    if (!entity || entity->entity == wire::Update::JOB || words.size() > words_needed) {
        session.streams.err(fmt::format("Invalid deletion entity: {}\n", words[1]));
        return 1;
    }
    const bool is_node = entity->entity == wire::Update::NODE;
    const std::string request = fmt::format("delete_{} {}", is_node ? "node" : "partition",
                                            fmt::join(words.begin() + 1, words.end(), " "));
    if (words.size() < words_needed) {
        print_error(session.streams, session.invocation,
                    "Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'");
        return 1;
    }
    Result<wire::Reply> reply = send(session, parse_update(words).value(), wire::Update::DELETE);
    return reply ? 0 : refuse(session, request, reply.error());
}

}  // namespace sluice
