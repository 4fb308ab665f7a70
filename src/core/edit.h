// core/edit.h
//
// A record that is being changed: cluster.edit_job(id)->comment = "...". The next edit of the same
// table may replace the record by a copy, so a reference to it must not be kept for longer. An Edit
// cannot be copied, and no other Edit of its table may begin before it has ended.
#pragma once

#include "base/check.h"

namespace sluice {

// Of one table: whether a record of it is being changed.
class EditLock {
public:
    void check_free() const { CHECK(!is_held_); }

private:
    template <typename T>
    friend class Edit;
    bool is_held_ = false;
};

template <typename T>
class [[nodiscard]] Edit {
public:
    Edit(T& record, EditLock& lock) : record_(record), lock_(lock) {
        lock_.check_free();
        lock_.is_held_ = true;
    }
    ~Edit() { lock_.is_held_ = false; }
    Edit(const Edit&) = delete;
    Edit& operator=(const Edit&) = delete;

    T* operator->() const { return &record_; }
    T& operator*() const { return record_; }

private:
    T& record_;
    EditLock& lock_;
};

}  // namespace sluice
