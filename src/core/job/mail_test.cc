// core/job/mail_test.cc: when mail is sent, and its subject.
#include <gtest/gtest.h>

#include "testkit/scenario.h"

namespace sluice {
namespace {

// The subjects of all mails, without what every one of them begins with.
std::vector<std::string> subjects(const Scenario& scenario) {
    std::vector<std::string> found;
    for (const Effect& effect : scenario.effects()) {
        const auto* mail = std::get_if<SendMail>(&effect);
        if (mail) found.push_back(mail->subject.substr(std::string_view("Slurm ").size()));
    }
    return found;
}

using Subjects = std::vector<std::string>;

Subjects mails_of(std::string_view text) {
    Scenario scenario;
    EXPECT_EQ(scenario.run(text), "");
    return subjects(scenario);
}

TEST(Mail, OnlyWhoAsksForItGetsIt) {
    EXPECT_EQ(mails_of("nodes n1\nsubmit a time=5\npass\nend a"), Subjects{});
    EXPECT_EQ(mails_of("nodes n1\nsubmit a time=5 mail=REQUEUE,ARRAY_TASKS\npass\nend a"),
              Subjects{});
}

TEST(Mail, TellsOfTheStartAndTheEnd) {
    EXPECT_EQ(mails_of("nodes n1\nsubmit a mail=ALL time=60\nat 1\npass\nat 3\nend a"),
              (Subjects{"Job_id=1 Name=a Began, Queued time 00:01:00",
                        "Job_id=1 Name=a Ended, Run time 00:02:00, COMPLETED, ExitCode 0"}));
}

TEST(Mail, OfAFailureThereIsOneMail) {
    const std::string start = "nodes n1\nsubmit a time=60 mail=";
    const std::string rest = "\npass\nend a code=3";
    const std::string how = ", Run time 00:00:00, FAILED, ExitCode 3";
    EXPECT_EQ(mails_of(start + "END,FAIL" + rest), Subjects{"Job_id=1 Name=a Failed" + how});
    EXPECT_EQ(mails_of(start + "FAIL" + rest), Subjects{"Job_id=1 Name=a Failed" + how});
    EXPECT_EQ(mails_of(start + "END" + rest), Subjects{"Job_id=1 Name=a Ended" + how});
    EXPECT_EQ(mails_of(start + "FAIL\npass\nend a"), Subjects{});
}

TEST(Mail, ToBeCancelledIsNoFailure) {
    const std::string text = "nodes n1\nsubmit a hold mail=";
    EXPECT_EQ(mails_of(text + "ALL\ncancel a"),
              Subjects{"Job_id=1 Name=a Ended, Run time 00:00:00, CANCELLED, ExitCode 0"});
    EXPECT_EQ(mails_of(text + "FAIL\ncancel a"), Subjects{});
    EXPECT_EQ(mails_of("nodes n1\nsubmit a time=60 mail=END\npass\nat 2\ncancel a\nclean a n1"),
              Subjects{"Job_id=1 Name=a Ended, Run time 00:02:00, CANCELLED, ExitCode 0"});
}

TEST(Mail, TellsHowMuchOfTheTimeIsGone) {
    const std::string text =
        "nodes n1\nsubmit a time=100 "
        "mail=FAIL,TIME_LIMIT,TIME_LIMIT_50,TIME_LIMIT_80,TIME_LIMIT_90\npass\n";
    const Subjects halfway{"Job_id=1 Name=a Reached 50% of time limit, Run time 00:50:00"};
    EXPECT_EQ(mails_of(text + "at 49"), Subjects{});
    EXPECT_EQ(mails_of(text + "at 50\nat 79"), halfway);
    EXPECT_EQ(mails_of(text + "at 50\nrestart\nat 51"), halfway) << "not again after a restart";
    EXPECT_EQ(mails_of(text + "at 50\nat 80\nat 90\nat 100\nclean a n1"),
              (Subjects{halfway[0], "Job_id=1 Name=a Reached 80% of time limit, Run time 01:20:00",
                        "Job_id=1 Name=a Reached 90% of time limit, Run time 01:30:00",
                        "Job_id=1 Name=a Reached time limit, Run time 01:40:00",
                        "Job_id=1 Name=a Failed, Run time 01:40:00, TIMEOUT, ExitCode 0"}));
    EXPECT_EQ(mails_of(text + "update a TimeLimit=200\nat 50\nat 99"), Subjects{})
        << "given more time";
}

TEST(Mail, TellsOfBeingRequeued) {
    EXPECT_EQ(
        mails_of("nodes n1\nsubmit a time=60 mail=REQUEUE,END\npass\nat 7\nrequeue a\nclean a n1"),
        Subjects{"Job_id=1 Name=a Requeued, Run time 00:07:00"});
}

TEST(Mail, TellsOnceThatADependencyCannotBeFulfilled) {
    const std::string text =
        "nodes n1\nsubmit bad time=5\nsubmit a depend=afterok:bad mail=ALL killdep=";
    EXPECT_EQ(mails_of(text + "no\npass\nend bad code=1\nat 1\npass"),
              Subjects{"Job_id=2 Name=a Invalid dependency"});
    EXPECT_EQ(mails_of(text + "yes\npass\nend bad code=1"),
              (Subjects{"Job_id=2 Name=a Invalid dependency",
                        "Job_id=2 Name=a Ended, Run time 00:00:00, CANCELLED, ExitCode 0"}));
}

TEST(Mail, OfAnArrayTellsAsAWhole) {
    const std::string text = "nodes n1 cpus=2\nsubmit a array=1-3 time=60 mail=ALL\npass\n";
    const std::string name = "Array Summary Job_id=1_* (1) Name=a ";
    EXPECT_EQ(mails_of(text + "end a_1\npass\nend a_2"), Subjects{name + "Began"});
    EXPECT_EQ(mails_of(text + "end a_1\npass\nend a_2\nend a_3"),
              (Subjects{name + "Began", name + "Ended, COMPLETED, ExitCode [0-0]"}));
    EXPECT_EQ(mails_of(text + "end a_1 code=2\npass\nend a_2\nend a_3 code=1"),
              (Subjects{name + "Began", name + "Failed, Mixed, ExitCode [0-2]"}));
    EXPECT_EQ(mails_of(text + "end a_1 code=3\npass\nend a_2 code=4\nend a_3 code=3"),
              (Subjects{name + "Began", name + "Failed, FAILED, ExitCode [3-4]"}));
    EXPECT_EQ(mails_of(text + "end a_1\nend a_2\ncancel a"),
              (Subjects{name + "Began", name + "Ended, Mixed, MaxSignal [9]"}));
    EXPECT_EQ(mails_of(text + "end a_1 code=3\nend a_2\ncancel a"),
              (Subjects{name + "Began", name + "Failed, Mixed, MaxExitCode [3]"}));
}

TEST(Mail, OfAnArrayRemembersTasksThatAreForgotten) {
    const std::string name = "Array Summary Job_id=1_* (1) Name=a ";
    EXPECT_EQ(mails_of("nodes n1 cpus=2\nsubmit a array=1-2 time=60 mail=ALL\npass\nend a_1 "
                       "code=2\nat 30\nend a_2"),
              (Subjects{name + "Began", name + "Failed, Mixed, ExitCode [0-2]"}));
    EXPECT_EQ(
        mails_of("nodes n1 cpus=1\nsubmit a array=1-2 time=60 mail=ALL\npass\nend a_1 code=2\n"
                 "restart\npass\nend a_2"),
        (Subjects{name + "Began", name + "Failed, Mixed, ExitCode [0-2]"}));
}

TEST(Mail, OfAnArrayTellsThatTasksWereRequeued) {
    const std::string name = "Array Summary Job_id=1_* (1) Name=a ";
    EXPECT_EQ(mails_of("nodes n1\nsubmit a array=1 time=60 mail=ALL\npass\nrequeue a\nclean a "
                       "n1\nat 3\npass\nend a"),
              (Subjects{name + "Began", name + "Requeued",
                        name + "Ended, COMPLETED, ExitCode [0-0], with requeued tasks"}));
}

TEST(Mail, OfTasksTellsOneByOneIfAskedTo) {
    EXPECT_EQ(
        mails_of("nodes n1 cpus=2\nsubmit a array=1-2 time=60 mail=BEGIN,FAIL,ARRAY_TASKS\n"
                 "pass\nend a_1 code=1\nend a_2"),
        (Subjects{
            "Array Task Job_id=1_1 (2) Name=a Began, Queued time 00:00:00",
            "Array Task Job_id=1_2 (1) Name=a Began, Queued time 00:00:00",
            "Array Task Job_id=1_1 (2) Name=a Failed, Run time 00:00:00, FAILED, ExitCode 1"}));
    EXPECT_EQ(mails_of("nodes n1\nsubmit a array=1-2 hold mail=ALL,ARRAY_TASKS\ncancel a"),
              Subjects{"Job_id=1 Name=a Ended, Run time 00:00:00, CANCELLED, ExitCode 0"});
}

TEST(Mail, GoesToAddressesOnly) {
    EXPECT_SCENARIO(
        "nodes n1\nsubmit a mailuser=me@example.org,you\nsubmit b mailuser=-f "
        "refused=--mail-user=-f\n"
        "submit c mailuser=|rm refused=--mail-user=|rm\nsubmit d mailuser=a,/etc/x refused");
}

}  // namespace
}  // namespace sluice
