// core/job/update_shape.h
//
// The fields of scontrol update JobId= that describe the resources of a waiting job.
#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace sluice {

bool is_shape_field(std::string_view key);
// Errors name key and value. `key` must be such a field.
Result<void> update_shape(Shape& shape, std::string_view key, const std::string& value);

}  // namespace sluice
