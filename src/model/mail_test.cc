#include "model/mail.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(MailTypes, AreListedInOneOrder) {
    EXPECT_EQ(parse_mail_types("fail,End"), "END,FAIL");
    EXPECT_EQ(parse_mail_types("ALL"), "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT");
    EXPECT_EQ(
        parse_mail_types("TIME_LIMIT,TIME_LIMIT_50,ARRAY_TASKS,all"),
        "ARRAY_TASKS,INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT,TIME_LIMIT_50,TIME_LIMIT");
    EXPECT_EQ(parse_mail_types("NONE,END"), "");
    for (const char* bad : {"", "SOMETIMES", "END,", "ENDS"})
        EXPECT_FALSE(parse_mail_types(bad)) << bad;
}

TEST(MailTypes, CanBeAskedForAndTakenAway) {
    EXPECT_TRUE(has_mail_type("ALL", MailType::Fail));
    EXPECT_FALSE(has_mail_type("TIME_LIMIT_50", MailType::TimeLimit));
    EXPECT_FALSE(has_mail_type("", MailType::End));
    EXPECT_EQ(without_mail_type("END,TIME_LIMIT_50", MailType::TimeLimit50), "END");
}

TEST(MailAddresses, AreNothingElse) {
    for (const char* good : {"bob", "bob@example.org", "b.o-b+x@example.org,_alice"}) {
        EXPECT_TRUE(is_mail_address(good)) << good;
    }
    for (const char* bad :
         {"", "-x", "bob,-x", "|sh", "/etc/passwd", "+mbox", "a b", "a\nb", "a,", "$(id)"}) {
        EXPECT_FALSE(is_mail_address(bad)) << bad;
    }
}

}  // namespace
}  // namespace sluice
