// os/empty_directory.h
//
// Removes what a user has left in a directory, whatever it is: trees of any depth, names of any
// bytes, directories without permissions. Nothing outside is touched: symbolic links are removed
// and not followed, and what is mounted below stays, with the directories that lead to it.
#pragma once

#include "base/result.h"

namespace sluice {

// May take as long as there is to remove. Subdirectories become entries of the directory itself
// before they are removed, so that no path and no stack grows with their depth. The error names the
// first entry that cannot be removed; all others are gone.
Result<void> empty_directory(int directory);

}  // namespace sluice
