#include "os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <climits>
#include <filesystem>

#include "os/error.h"

namespace sluice {

Result<std::string> read_file(const std::string& path) {
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return os_error(path);
    std::string content;
    char buffer[16 * 1024];
    for (;;) {
        ssize_t count = read(file.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return os_error(path);
        if (count == 0) return content;
        content.append(buffer, static_cast<std::size_t>(count));
    }
}

Result<Fd> memory_file(const char* name, std::string_view content) {
    Fd file(memfd_create(name, MFD_CLOEXEC));
    if (!file || !write_all(file.get(), content)) return os_error(name);
    return file;
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t count = write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool write_to(const std::string& path, std::string_view text) {
    Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return file && write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Result<void> write_file_atomically(const std::string& path, std::string_view content,
                                   WriteOptions options) {
    std::string fresh = path + ".new";
    Fd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, options.mode));
    if (!file) return os_error(fresh);
    if (!write_all(file.get(), content)) return os_error(fresh);
    if (options.durable && fsync(file.get()) != 0) return os_error(fresh);
    if (rename(fresh.c_str(), path.c_str()) != 0) return os_error(path);
    return {};
}

Result<void> make_directories(const std::string& path, mode_t mode) {
    if (mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    if (errno != ENOENT) return os_error(path);
    std::string parent = directory_of(path);
    if (parent == path) return os_error(path);
    if (Result<void> made = make_directories(parent, mode); !made) return made;
    if (mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    return os_error(path);
}

std::vector<std::string> list_directory(const std::string& path) {
    std::vector<std::string> names;
    DIR* directory = opendir(path.c_str());
    if (!directory) return names;
    while (const dirent* entry = readdir(directory)) {
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    closedir(directory);
    return names;
}

void remove_tree(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

std::string directory_of(std::string_view path) {
    std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string base_name(std::string_view path) {
    std::size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string absolute_path(std::string_view path, std::string_view directory) {
    if (path.starts_with('/')) return std::string(path);
    return fmt::format("{}/{}", directory, path);
}

std::string own_program_path() {
    char buffer[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
    return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace sluice
