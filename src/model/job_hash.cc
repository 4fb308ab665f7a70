// model/job_hash.cc
#include "model/job_hash.h"

namespace sluice {

std::size_t hash_of(const Shape& shape) {
    Hash hash;
    hash.add_all(shape.nodes_min, shape.nodes_max, shape.node_sizes, shape.ntasks,
                 shape.ntasks_per_node);
    hash.add_all(shape.cpus_per_task, shape.mem_per_node, shape.mem_per_cpu, shape.mem_per_gpu,
                 shape.cpus_per_gpu);
    hash.add_all(shape.gres_per_node, shape.gpus, shape.gpus_per_task, shape.gpus_per_socket);
    hash.add_all(shape.constraint, shape.prefer, shape.nodelist, shape.exclude);
    hash.add_all(shape.cpus_min, shape.cpus_min_per_node, shape.tmp_min,
                 static_cast<std::uint64_t>(shape.exclusive));
    return hash.value();
}

std::size_t hash_of(const JobTerms& terms) {
    Hash hash;
    hash.add_all(terms.partition, terms.account, terms.qos, terms.wckey, terms.reservation,
                 terms.licenses);
    hash.add_all(terms.mail_user, terms.mail_types, terms.submit_host, terms.tres_bind,
                 terms.tres_freq);
    hash.add_all(terms.time_limit, terms.time_min, terms.begin, terms.deadline, terms.priority);
    hash.add_all(static_cast<std::uint64_t>(terms.nice), terms.hold, terms.umask,
                 hash_of(terms.shape));
    if (terms.array) hash.add(print_array(*terms.array));
    return hash.value();
}

}  // namespace sluice
