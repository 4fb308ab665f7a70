// model/job_details.h
//
// What tells a job from others of its kind: its name, files and texts. There may be a hundred
// thousand that differ in nothing else, so a job keeps them packed into one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

    bool operator==(const JobDetails&) const = default;
};

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
    static constexpr Text kTexts[] = {
        &JobDetails::name,        &JobDetails::comment,          &JobDetails::dependency,
        &JobDetails::work_dir,    &JobDetails::std_in,           &JobDetails::std_out,
        &JobDetails::std_err,     &JobDetails::command,          &JobDetails::submit_line,
        &JobDetails::script_hash, &JobDetails::environment_hash,
    };
    static constexpr std::size_t kTextCount = std::size(kTexts);
    using Offset = std::uint32_t;

    static constexpr std::size_t place_of(Text member) {
        std::size_t place = 0;
        while (kTexts[place] != member) ++place;
        return place;
    }
    // Where in bytes_ that text begins, and the one before it ends.
    Offset offset(std::size_t place) const;
    std::size_t count() const { return offset(0) / sizeof(Offset) - 1; }
    std::string_view at(std::size_t place) const;

    std::string bytes_;  // an offset for each text and one for the end, then the texts
    std::uint32_t submit_sid_ = 0;
};

}  // namespace sluice
