// model/validate.h
//
// Which texts, numbers and lists a record may contain. Requests are checked before they become
// records, records before they are changed, and rows when a restarted controller reads them, all by
// these functions and the table in model/sizes.h. Every refusal names the field and its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "model/qos.h"
#include "model/reservation.h"

namespace sluice {

// "comment=abc...: why".
Error invalid_value(std::string_view field, std::string_view value, std::string_view why);

// Texts end up in paths, arguments and variables of C programs: a zero byte would cut them short.
Result<void> validate_text(std::string_view field, std::string_view value, std::size_t most);
Result<void> validate_texts(std::string_view field, const std::vector<std::string>& values,
                            std::size_t each_most, std::size_t count_most);
Result<void> validate_list(std::string_view field, std::size_t size, std::size_t most);
Result<void> validate_number(std::string_view field, std::int64_t value, std::int64_t most);

Result<void> validate(const JobRequest& request);
Result<void> validate(const Shape& shape);
Result<void> validate(const Step& step);
Result<void> validate(const Job& job);  // all but what was asked for, which is a JobRequest
Result<void> validate(const Reservation& reservation);
Result<void> validate(const Qos& qos);

}  // namespace sluice
