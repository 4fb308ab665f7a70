// model/state_location_test.cc
#include "model/state_location.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(StateLocation, KnowsTheDatabaseFromADirectory) {
    EXPECT_TRUE(is_shared_state("postgresql://db/sluice"));
    EXPECT_TRUE(is_shared_state("postgres:///sluice?host=/run/postgresql"));
    EXPECT_FALSE(is_shared_state("/var/spool/slurmctld"));
    EXPECT_FALSE(is_shared_state("/postgresql://x"));
    EXPECT_FALSE(is_shared_state("mysql://db/sluice"));
}

TEST(StateLocation, ShowsNoPassword) {
    EXPECT_EQ(without_password("postgresql://sluice:secret@db1:5432,db2/state"),
              "postgresql://sluice:***@db1:5432,db2/state");
    EXPECT_EQ(without_password("postgresql://sluice@db1:5432,db2:5433/state"),
              "postgresql://sluice@db1:5432,db2:5433/state");
    EXPECT_EQ(without_password("postgresql://db1:5432/state?password=secret&sslmode=require"),
              "postgresql://db1:5432/state?password=***&sslmode=require");
    EXPECT_EQ(without_password("postgresql://db/state?sslpassword=a&password=b"),
              "postgresql://db/state?sslpassword=***&password=***");
    EXPECT_EQ(without_password("postgresql://u:a@b@db"), "postgresql://u:***@db");
    EXPECT_EQ(without_password("postgresql://u:p"), "postgresql://u:p") << "a host and a port";
    EXPECT_EQ(without_password("/spool/password=x"), "/spool/password=x");
}

}  // namespace
}  // namespace sluice
