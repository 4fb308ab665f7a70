// mpi/information.h
//
// A list of keys and values as PMIx takes it; and the wait for a call whose end it reports.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <cstddef>
#include <future>
#include <string>

#include "mpi/step_layout.h"

namespace sluice {

class Information {
public:
    Information() : list_(PMIx_Info_list_start()) {}
    ~Information();
    Information(const Information&) = delete;
    Information& operator=(const Information&) = delete;

    void add(const char* key, const std::string& value);
    void add(const char* key, std::uint32_t value);
    void add(const char* key, std::uint16_t value);
    void add(const char* key, bool value);
    void add_rank(const char* key, std::uint32_t value);
    void add_regex(const char* key, const char* value);
    void add_task(const StepLayout& layout, std::uint32_t task);  // what is known of it

    // Nothing can be added afterwards.
    pmix_info_t* data();
    std::size_t size();

private:
    pmix_data_array_t* array();

    void* list_;
    pmix_data_array_t array_{};
    bool is_made_ = false;
};

class Completion {
public:
    static void done(pmix_status_t status, void* completion);
    // `status` is what the call has returned.
    pmix_status_t wait(pmix_status_t status);

private:
    std::promise<pmix_status_t> promise_;
};

}  // namespace sluice
