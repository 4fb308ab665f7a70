// Hostlists: any text; what is accepted folds to text that expands to the same names.
#include "fuzz.h"
#include "model/hostlist.h"

namespace sluice {

void fuzz_one(std::string_view text) {
    Result<Hostlist> list = Hostlist::parse(text);
    if (!list) return;
    CHECK(list->size() <= kHostlistSizeMax);
    if (list->size() > 20'000) return;  // nothing new in larger ones, only time
    Result<Hostlist> again = Hostlist::parse(list->to_string());
    CHECK(again && *again == *list);
    Hostlist sorted = list->sorted();
    Result<Hostlist> sorted_again = Hostlist::parse(sorted.to_string());
    CHECK(sorted_again && *sorted_again == sorted);
    CHECK(list->without(*list).empty());
}

}  // namespace sluice
