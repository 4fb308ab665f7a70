// store/directory_lock.h
//
// A state directory belongs to one controller at a time. The lock ends with the process, however
// that ends.
#pragma once

#include <string>

#include "base/result.h"

namespace sluice {

class DirectoryLock {
public:
    // Creates the directory if it is missing. An error names the process that holds it.
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
