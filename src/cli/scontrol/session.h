// cli/scontrol/session.h
//
// What every scontrol command is given: the world, and the modes that options and earlier commands
// of a prompt have set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.h"
#include "cli/common/tool.h"
#include "model/key_values.h"
#include "surface/json.h"
#include "surface/records.h"

namespace sluice {

struct Session {
    const Invocation& invocation;
    Client& client;
    Streams& streams;
    Time now;
    RecordStyle style;
    bool all = false;  // hidden partitions too
    bool quiet = false;
    std::optional<JsonStyle> json;  // --json, --yaml
    bool over = false;              // exit, quit
};

using Words = std::vector<std::string>;  // of a command, its name first

// The words of scontrol update, create or delete, apart from those about reservations.
struct UpdateWords {
    wire::Update::Entity entity = wire::Update::JOB;
    std::string name;
    KeyTexts changes;
};

// Each returns the command's exit code, and has printed its errors.
int show(Session& session, const Words& words);                                      // show.cc
int show_hosts(Session& session, std::string_view entity, const std::string* list);  // hosts.cc
int control_jobs(Session& session, const Words& words);                              // control.cc
int write_script(Session& session, const Words& words);                              // control.cc
int wait_for_job(Session& session, const Words& words);                              // wait_job.cc
int update(Session& session, const Words& words);                                    // update.cc
int create(Session& session, const Words& words);                                    // update.cc
int remove(Session& session, const Words& words);                                    // update.cc
// Says what is wrong with one of the fields; false: it is about something else.
bool refuse_field(Session& session, const UpdateWords& update, const Error& error);  // refusals.cc
void refuse_word(Session& session, wire::Update::Entity entity,
                 std::string_view word);                                // refusals.cc
int write_resize_scripts(Session& session, const UpdateWords& update);  // resize.cc
int create_reservation(Session& session, const Words& words);           // reservation.cc
int update_reservation(Session& session, const Words& words);           // reservation.cc
int delete_reservation(Session& session, const Words& words);           // reservation.cc
int reboot(Session& session, const Words& words);                       // reboot.cc
int cancel_reboot(Session& session, const Words& words);                // reboot.cc
int power(Session& session, const Words& words);                        // power.cc
bool is_about_reservation(const Words& words);                          // reservation.cc
int list_pids(Session& session, const Words& words);                    // node_side.cc
int list_jobs(Session& session, const Words& words);                    // node_side.cc
int list_steps(Session& session, const Words& words);                   // node_side.cc
int show_process(Session& session, const Words& words);                 // node_side.cc
int notify(Session& session, const Words& words);                       // node_side.cc
int ping(Session& session);                                             // controllers.cc
int reconfigure(Session& session);                                      // controllers.cc
int shut_down(Session& session, bool only_controller);                  // controllers.cc
int take_over(Session& session, const std::string* place);              // controllers.cc
int show_config(Session& session, const std::string* key);              // controllers.cc
int show_damaged(Session& session);                                     // controllers.cc

enum class Shell : std::uint8_t { Bourne, C };
std::string resize_script(const wire::JobAllocation& job, Shell shell);  // resize.cc

// Lines about the state of the controllers; false: none answers.
bool append_controllers(Session& session, std::string& out);  // controllers.cc

}  // namespace sluice
