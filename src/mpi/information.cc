#include "mpi/information.h"

namespace sluice {

Information::~Information() {
    PMIx_Info_list_release(list_);
    if (is_made_) PMIX_DATA_ARRAY_DESTRUCT(&array_);
}

void Information::add(const char* key, const std::string& value) {
    PMIx_Info_list_add(list_, key, value.c_str(), PMIX_STRING);
}

void Information::add(const char* key, std::uint32_t value) {
    PMIx_Info_list_add(list_, key, &value, PMIX_UINT32);
}

void Information::add(const char* key, std::uint16_t value) {
    PMIx_Info_list_add(list_, key, &value, PMIX_UINT16);
}

void Information::add(const char* key, bool value) {
    PMIx_Info_list_add(list_, key, &value, PMIX_BOOL);
}

void Information::add_rank(const char* key, std::uint32_t value) {
    PMIx_Info_list_add(list_, key, &value, PMIX_PROC_RANK);
}

void Information::add_regex(const char* key, const char* value) {
    PMIx_Info_list_add(list_, key, value, PMIX_REGEX);
}

void Information::add_task(const StepLayout& layout, std::uint32_t task) {
    const std::uint32_t node = layout.node_of_task[task];
    const auto local = static_cast<std::uint16_t>(layout.local_rank(task));
    Information details;
    details.add_rank(PMIX_RANK, task);
    details.add(PMIX_APPNUM, std::uint32_t{0});
    details.add_rank(PMIX_APP_RANK, task);
    details.add_rank(PMIX_GLOBAL_RANK, task);
    details.add(PMIX_LOCAL_RANK, local);
    details.add(PMIX_NODE_RANK, local);
    details.add(PMIX_NODEID, node);
    details.add(PMIX_HOSTNAME, layout.nodes[node]);
    PMIx_Info_list_add(list_, PMIX_PROC_INFO_ARRAY, details.array(), PMIX_DATA_ARRAY);
}

pmix_data_array_t* Information::array() {
    if (!is_made_) PMIx_Info_list_convert(list_, &array_);
    is_made_ = true;
    return &array_;
}

pmix_info_t* Information::data() {
    return static_cast<pmix_info_t*>(array()->array);
}

std::size_t Information::size() {
    return array()->size;
}

void Completion::done(pmix_status_t status, void* completion) {
    static_cast<Completion*>(completion)->promise_.set_value(status);
}

pmix_status_t Completion::wait(pmix_status_t status) {
    return status == PMIX_SUCCESS ? promise_.get_future().get() : status;
}

}  // namespace sluice
