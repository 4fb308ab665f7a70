// store/directory_lock.h
//
// A state directory belongs to one controller at a time. The lock goes with the process, however it
// ends.
#pragma once

#include <string>

#include "base/result.h"

namespace sluice {

class DirectoryLock {
public:
    // Makes the directory when it is missing. An error names the process that holds it.
    static Result<DirectoryLock> take(const std::string& directory);

    DirectoryLock(DirectoryLock&& other) noexcept : descriptor_(other.descriptor_) {
        other.descriptor_ = -1;
    }
    DirectoryLock& operator=(DirectoryLock&&) = delete;
    ~DirectoryLock();

private:
    explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
};

}  // namespace sluice
