// --send-libs: the shared objects of a program.
#include <stdio.h>

#include <memory>

#include "base/text.h"
#include "cli/sbcast/broadcast.h"
#include "model/errors.h"
#include "os/error.h"
#include "os/files.h"

namespace sluice {

namespace {

std::string quoted(const std::string& path) {
    std::string text = "'";
    for (char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

bool is_below(std::string_view path, std::string_view directories) {
    for (std::string_view each : split(directories, ',')) {
        each = trim(each);
        while (each.ends_with('/')) each.remove_suffix(1);
        if (!each.empty() && path.starts_with(std::string(each) + "/")) return true;
    }
    return false;
}

// "/opt/libm.so.6" of "\tlibm.so.6 => /opt/libm.so.6 (0x00007f...)".
std::string_view path_in(std::string_view line) {
    const std::size_t arrow = line.find(" => ");
    if (arrow == std::string_view::npos) return {};
    line.remove_prefix(arrow + 4);
    return line.starts_with('/') ? line.substr(0, line.find(" (")) : std::string_view{};
}

}  // namespace

Result<std::vector<std::string>> shared_objects_of(const std::string& program,
                                                   std::string_view exclude) {
    const std::string command = "exec ldd -- " + quoted(program) + " 2>/dev/null";
    const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
    if (!output) return os_error("ldd");
    std::vector<std::string> found;
    char line[4096 + 256];
    while (fgets(line, sizeof line, output.get())) {
        const std::string_view path = path_in(line);
        const bool is_excluded = !equals_ignoring_case(exclude, "none") && is_below(path, exclude);
        if (!path.empty() && !is_excluded) found.emplace_back(path);
    }
    return found;
}

Result<void> add_shared_objects(std::vector<CastSource>& files, std::string_view exclude) {
    const wire::CastFile program = files.front().file;
    for (const std::string& path : TRY(shared_objects_of(files.front().path, exclude))) {
        CastSource source{.path = path, .file = program};
        source.file.set_path(fmt::format("{}_libs/{}", program.path(), base_name(path)));
        source.file.set_make_directory(true);
        TRY(describe_original(source));
        files.push_back(std::move(source));
    }
    return {};
}

}  // namespace sluice
