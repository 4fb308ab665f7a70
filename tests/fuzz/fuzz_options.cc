// Any bytes as the value of an option, and as the keys and values of scontrol and sacctmgr: an
// error or a value, never a crash.
#include <string>
#include <vector>

#include "base/text.h"
#include "fuzz.h"
#include "model/batch_x11.h"
#include "model/checkpoint_sync.h"
#include "model/container_setup.h"
#include "model/cpu_freq.h"
#include "model/distribution.h"
#include "model/gpu_bind.h"
#include "model/gpu_freq.h"
#include "model/job_keys.h"
#include "model/license.h"
#include "model/mail.h"
#include "model/node_counts.h"
#include "model/node_keys.h"
#include "model/partition_keys.h"
#include "model/process_mapping.h"
#include "model/qos_keys.h"
#include "model/reservation.h"
#include "model/sampling.h"
#include "model/stage_in.h"
#include "model/task_bind.h"

namespace sluice {

namespace {

void read_data_options(std::string_view text) {
    (void)parse_sync_rule(text);
    (void)parse_sync_rules(text);
    (void)parse_stage_ins(text);
    (void)parse_container_setup(text);
    (void)parse_container_mounts(text);
    const auto staged = parse_stage_in(text, "/home");
    if (!staged) return;
    const auto lines = with_stage_in("", *staged);
    if (lines) CHECK(parse_stage_ins(*lines).has_value());
}

void read_step_options(std::string_view text) {
    (void)parse_batch_display(text);
    (void)parse_cpu_freq(text);
    (void)parse_distribution(text);
    (void)parse_gpu_bind(text);
    (void)parse_tres_bind(text);
    (void)parse_gpu_freq(text);
    (void)parse_tres_freq(text);
    (void)parse_cpu_bind(text);
    (void)parse_mem_bind(text);
    (void)parse_task_sampling(text);
    (void)parse_process_mapping(text, 1024);
}

void read_job_options(std::string_view text) {
    (void)parse_licenses(text);
    (void)parse_mail_types(text);
    (void)parse_node_counts(text);
    (void)parse_node_sizes(text);
    ReservationChange change;
    (void)parse_reservation_flags(text, '+', change);
}

// One on each line.
KeyTexts keys_in(std::string_view text) {
    KeyTexts keys;
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        keys.emplace_back(std::string(line.substr(0, equals)),
                          std::string(line.substr(equals + 1)));
    }
    return keys;
}

}  // namespace

void fuzz_one(std::string_view text) {
    read_data_options(text);
    read_step_options(text);
    read_job_options(text);
    const KeyTexts keys = keys_in(text);
    (void)parse_job_change(keys, Time{});
    (void)parse_node_change(keys);
    (void)parse_partition_change(keys);
    (void)parse_qos_change(keys);
}

}  // namespace sluice
