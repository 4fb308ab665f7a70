// cli/srun/task_output.h
//
// The tasks' output on its way to the user: whole lines unless asked otherwise, with the task's
// number in front when asked for, to srun's own streams or to a file that all tasks share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cli/common/tool.h"
#include "os/fd.h"

namespace sluice {

class TaskOutput {
public:
    struct Layout {
        bool label = false;
        bool unbuffered = false;
        std::uint32_t tasks = 1;  // decides the width of labels
    };
    TaskOutput(Layout layout, Streams& streams) : layout_(layout), streams_(streams) {}

    // A file in place of standard output (1) or error (2).
    void use_file(std::uint32_t stream, Fd file) { files_[stream] = std::move(file); }
    void share_output_file() { errors_go_to_output_ = true; }

    // Empty data is the end of the task's stream.
    void write(std::uint32_t task, std::uint32_t stream, std::string_view data);
    void finish();  // what was kept back because its line had no end

private:
    void write_lines(std::uint32_t task, std::uint32_t stream, std::string_view lines);
    void put(std::uint32_t stream, std::string_view text);

    Layout layout_;
    Streams& streams_;
    std::map<std::uint32_t, Fd> files_;
    bool errors_go_to_output_ = false;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> partial_;  // by task, stream
};

}  // namespace sluice
