// Feature expressions: any text; what is accepted names what it asks for, and a node that has all
// of it may always be part of the job.
#include "fuzz.h"
#include "model/features.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    Result<FeatureExpression> expression = FeatureExpression::parse(text);
    if (!expression) return;
    CHECK(expression->matches(expression->names()));
    CHECK(text.empty() || !expression->names().empty());
    CHECK(expression->same.empty() || expression->counted.empty());
    CHECK(expression->counted.empty() == (expression->nodes_min() == 0));
}

}  // namespace sluice
