// How long the data of a user is kept, and for which runs.
#include "agent/known_users.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using std::chrono::seconds;

TEST(KnownUsers, AreKnownForATimeAndByTheJobsGroup) {
    KnownUsers users;
    const KnownUsers::Moment start{};
    wire::UserRecord ada;
    ada.set_user(1000);
    ada.set_group(100);
    ada.set_name("ada");
    users.remember(ada, start);
    ASSERT_NE(users.find(1000, 100, seconds{600}, start + seconds{599}), nullptr);
    EXPECT_EQ(users.find(1000, 100, seconds{600}, start)->name(), "ada");
    EXPECT_EQ(users.find(1000, 100, seconds{600}, start + seconds{600}), nullptr);
    EXPECT_EQ(users.find(1000, 200, seconds{600}, start), nullptr);
    EXPECT_EQ(users.find(1000, 100, seconds{0}, start), nullptr) << "GroupUpdateTime=0: always ask";
}

}  // namespace
}  // namespace sluice
