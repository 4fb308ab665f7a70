#include "model/process_mapping.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(ProcessMapping, EqualNodesAreOneBlock) {
    EXPECT_EQ(print_process_mapping({0, 0, 1, 1}), "(vector,(0,2,2))");
    EXPECT_EQ(print_process_mapping({0, 0, 0, 1}), "(vector,(0,1,3),(1,1,1))");
    EXPECT_EQ(print_process_mapping({0, 1, 2, 0, 1, 2}), "(vector,(0,3,1),(0,3,1))");
    EXPECT_EQ(print_process_mapping({}), "(vector)");
}

TEST(ProcessMapping, IsReadAsItWasWritten) {
    const Nodes layouts[] = {{}, {0}, {0, 0, 1, 1}, {0, 1, 2, 0, 1, 2}, {2, 0, 0, 1, 2, 2}};
    for (const Nodes& nodes : layouts) {
        EXPECT_EQ(parse_process_mapping(print_process_mapping(nodes), nodes.size()), nodes);
    }
}

TEST(ProcessMapping, RefusesOtherTextsAndNumbersOfTasks) {
    for (const char* text :
         {"", "(vector", "(vector)", "(vector,)", "(vector,(0,1))", "vector,(0,2,1)",
          "(vector,(0,2,1)", "(vector,(0,2,1))x", "(vector,(0,1,1))", "(vector,(0,3,1))",
          "(vector,(0,a,1))", "(vector,(-1,2,1))", "(vector,(0,18446744073709551615,2))",
          "(vector,(0,4294967296,4294967297))", "(vector,(99999999,2,1))"}) {
        EXPECT_EQ(parse_process_mapping(text, 2), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace sluice
