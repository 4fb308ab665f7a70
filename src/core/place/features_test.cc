// --constraint: which nodes have the features that a job asks for.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

TEST(Features, AreThoseOfEveryNode) {
    EXPECT_SCENARIO(R"(
        nodes   b[1-2] cpus=4 feature=b
        nodes   a[1-2] cpus=4 feature=a
        submit  both feature=a&b refused
        submit  more nodes=3 feature=a refused
        submit  wide nodes=2 feature=a
        pass
        expect  wide running a[1-2]
    )");
}

TEST(Features, OneOfAListMayDifferFromNodeToNodeUnlessItIsInBrackets) {
    EXPECT_SCENARIO(R"(
        nodes   a[1-2] cpus=4 feature=a
        nodes   b[1-2] cpus=4 feature=b
        submit  busy exclusive nodelist=a1 time=30
        pass
        submit  mixed exclusive nodes=3 feature=a|b time=10
        pass
        expect  mixed running a2,b[1-2]
        end     mixed
        clean   mixed b1
        clean   mixed b2
        submit  alike exclusive nodes=2 feature=[a|b] time=10
        pass
        expect  alike running b[1-2]
    )");
}

TEST(Features, ThatAreCountedMustAllBeThere) {
    EXPECT_SCENARIO(R"(
        nodes   a[1-3] cpus=4 feature=a
        nodes   b[1-2] cpus=4 feature=b
        submit  busy exclusive nodelist=b1 time=30
        pass
        submit  two exclusive nodes=3 feature=[a*1&b*2] time=10
        submit  one exclusive nodes=2 feature=[a*1&b*1] time=10
        pass
        expect  two pending Resources starts=30
        expect  one running a1,b2
        end     one
        clean   one b2
        end     busy
        pass
        expect  two running a1,b[1-2]
    )");
}

}  // namespace
}  // namespace sluice
