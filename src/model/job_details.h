// model/job_details.h
//
// What distinguishes a job from others of its class: its name, files and texts. A hundred thousand
// jobs may differ only in these, so a job keeps them packed in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/fields.h"
#include "model/sizes.h"

namespace sluice {

struct JobDetails {
    std::string name;
    std::string comment;
    std::string dependency;  // as written
    std::string work_dir;
    std::string std_in = "/dev/null";
    std::string std_out;  // pattern; empty: slurm-%j.out or slurm-%A_%a.out
    std::string std_err;  // empty: where std_out goes
    std::string command;  // path of the script; empty for --wrap and stdin
    std::vector<std::string> script_args;
    std::string submit_line;
    std::uint32_t submit_sid = 0;  // AllocNode:Sid
    std::string script_hash;       // key in the store; empty for interactive jobs
    std::string environment_hash;
    std::string extra;            // any text, for the site
    std::string container;        // --container: an OCI bundle; --container-image: the image
    std::string container_setup;  // of an image: model/container_setup.h; empty: a bundle, or none
    std::string stage_in;         // --stage-in: model/stage_in.h; empty: none
    std::string container_id;     // --container-id; empty: we choose
    std::string x11;              // of a batch script: model/batch_x11.h; empty: no display

    std::string sync;  // --sync, a line each: model/checkpoint_sync.h

    bool operator==(const JobDetails&) const = default;
};

template <>
inline constexpr auto kFields<JobDetails> = fields<JobDetails>(
    field(2, "job-name", &JobDetails::name), field(7, "comment", &JobDetails::comment),
    field(10, "dependency", &JobDetails::dependency, bytes_at_most(sizes::kDependency)),
    field(11, "chdir", &JobDetails::work_dir, bytes_at_most(sizes::kPath)),
    field(12, "input", &JobDetails::std_in, bytes_at_most(sizes::kPath)),
    field(13, "output", &JobDetails::std_out, bytes_at_most(sizes::kPath)),
    field(14, "error", &JobDetails::std_err, bytes_at_most(sizes::kPath)),
    field(16, "script", &JobDetails::command, bytes_at_most(sizes::kPath)),
    field(18, "script arguments", &JobDetails::script_args,
          entries_at_most(sizes::kArgumentCount, sizes::kArgument)),
    field(17, "submit line", &JobDetails::submit_line, bytes_at_most(sizes::kSubmitLine)),
    field(22, "submit_sid", &JobDetails::submit_sid),
    field(41, "script hash", &JobDetails::script_hash, bytes_at_most(sizes::kKey)),
    field(42, "environment hash", &JobDetails::environment_hash, bytes_at_most(sizes::kKey)),
    field(73, "extra", &JobDetails::extra),
    field(240, "container", &JobDetails::container, bytes_at_most(sizes::kPath)),
    field(241, "container-mounts", &JobDetails::container_setup,
          bytes_at_most(sizes::kContainerSetup)),
    field(245, "sync", &JobDetails::sync, bytes_at_most(sizes::kSync)),
    field(230, "stage-in", &JobDetails::stage_in, bytes_at_most(sizes::kStageIn)),
    field(250, "container-id", &JobDetails::container_id), field(251, "x11", &JobDetails::x11));

class PackedDetails {
public:
    using Text = std::string JobDetails::*;

    explicit PackedDetails(const JobDetails& details);
    JobDetails unpacked() const;

    std::string_view text(Text member) const { return at(place_of(member)); }  // borrowed
    std::string_view name() const { return text(&JobDetails::name); }
    std::string_view dependency() const { return text(&JobDetails::dependency); }
    std::string script_hash() const { return std::string(text(&JobDetails::script_hash)); }
    std::string environment_hash() const {
        return std::string(text(&JobDetails::environment_hash));
    }
    std::size_t script_arg_count() const { return count() - kTextCount; }
    std::string_view script_arg(std::size_t number) const { return at(kTextCount + number); }
    std::uint32_t submit_sid() const { return submit_sid_; }

    std::size_t hash() const { return std::hash<std::string>{}(bytes_); }
    bool operator==(const PackedDetails&) const = default;

private:
    // In the order in which they lie in memory; the arguments of the script follow.
    static constexpr auto kTexts = members_of_type<JobDetails, std::string>();
    static constexpr std::size_t kTextCount = kTexts.size();
    using Offset = std::uint32_t;

    static constexpr std::size_t place_of(Text member) {
        std::size_t place = 0;
        while (kTexts[place] != member) ++place;
        return place;
    }
    // The start of that text in bytes_, which is the end of the one before it.
    Offset offset(std::size_t place) const;
    std::size_t count() const { return offset(0) / sizeof(Offset) - 1; }
    std::string_view at(std::size_t place) const;

    std::string bytes_;  // an offset for each text and one for the end, then the texts
    std::uint32_t submit_sid_ = 0;
};

}  // namespace sluice
