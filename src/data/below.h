// data/below.h
//
// Files below a directory that is open, by a path that leads through no symbolic link: what a user
// puts into the tree meanwhile leads nowhere else.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace sluice::data {

class Below {
public:
    // The directory itself may be a symbolic link: its name is the user's choice.
    static Result<Below> open(const std::string& directory);

    const std::string& name() const { return name_; }
    int fd() const { return root_.get(); }
    std::string full(std::string_view path) const;

    // The directory that the last component of the path is in; `make`: made where it is missing.
    Result<Fd> parent(std::string_view path, bool make) const;
    Result<Fd> open_file(std::string_view path) const;             // for reading; of a regular file
    std::optional<struct stat> look(std::string_view path) const;  // nothing: there is no such file
    std::optional<std::string> link_target(std::string_view path) const;
    Result<void> remove(std::string_view path) const;  // with all below it; fine if it is gone

private:
    Below(std::string name, Fd root) : name_(std::move(name)), root_(std::move(root)) {}

    std::string name_;
    Fd root_;
};

// The directory and those above it, as far as they are missing.
Result<Below> make_and_open(const std::string& directory);

std::string last_of(std::string_view path);  // what follows the last slash

std::int64_t change_time(const struct stat& status);  // nanoseconds since 1970

}  // namespace sluice::data
