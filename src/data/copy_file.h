// data/copy_file.h
//
// One file or symbolic link of a tree is copied to another tree: under another name first, then
// renamed. A reader of the copy sees the old file or the new one.
#pragma once

#include "data/below.h"

namespace sluice::data {

// The name of a copy that is not complete, directly in the target; and how all names begin that
// synchronisation uses itself.
constexpr std::string_view kPart = ".sluice-sync.part";
constexpr std::string_view kOwnNames = ".sluice-sync";

// Whether the copy has the size and the time of the original. Some file systems keep whole seconds
// or microseconds.
bool is_same_file(const struct stat& original, const struct stat& copy);

// Holes stay holes; mode and time are those of the original; the copy is on the disk. False: the
// original changed meanwhile, and nothing was put into place.
Result<bool> copy_file(const Below& source, const Below& target, const std::string& path);

// Whether the link leads to a place in its own tree, by its text.
bool stays_inside(std::string_view path, std::string_view target);
Result<void> copy_link(const Below& target, const std::string& path, const std::string& leads_to);

// Is a process of this host writing to the file? Nothing: the file system does not say.
std::optional<bool> is_open_for_writing(int file);
// A zip archive (the format of torch.save and numpy.savez) without its end: it was not completed.
bool is_torn_archive(int file, std::uint64_t size);

}  // namespace sluice::data
