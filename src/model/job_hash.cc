#include "model/job_hash.h"

#include "model/job_fields.h"

namespace sluice {

std::size_t hash_of(const Shape& shape) {
    return Hash().add(shape).value();
}

std::size_t hash_of(const JobTerms& terms) {
    return Hash().add(terms).value();
}

}  // namespace sluice
