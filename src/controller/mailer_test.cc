#include "controller/mailer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {
namespace {

const User kOwner{
    .uid = 1000, .gid = 100, .name = "alice", .home = "/", .shell = "/bin/sh", .groups = {}};

Job job_of(const JobRequest& request) {
    Job job;
    job.id = JobId{12};
    job.user = UserId{1000};
    set_request(job, request);
    return job;
}

TEST(MailAddress, IsTheOwnersUnlessAnotherWasGiven) {
    JobRequest request;
    EXPECT_EQ(mail_address(job_of(request), kOwner, ""), "alice");
    EXPECT_EQ(mail_address(job_of(request), kOwner, "example.org"), "alice@example.org");
    EXPECT_EQ(mail_address(job_of(request), {}, ""), "1000");
    request.mail_user = "bob";
    EXPECT_EQ(mail_address(job_of(request), kOwner, "example.org"), "bob");
}

TEST(MailVariables, SayWhatHappenedToTheJob) {
    JobRequest request;
    request.name = "train";
    Job job = job_of(request);
    job.state = JobState::Failed;
    job.run.exit = {3, 0, false};
    SendMail mail{MailType::Fail, std::make_shared<const Job>(job), "subject", Seconds{65}};
    Config config;
    config.cluster_name = "lab";
    const auto variables = mail_variables(mail, kOwner, config);
    for (const char* expected :
         {"SLURM_CLUSTER_NAME=lab", "SLURM_JOB_ID=12", "SLURM_JOB_NAME=train",
          "SLURM_JOB_USER=alice", "SLURM_JOB_STATE=FAILED", "SLURM_JOB_MAIL_TYPE=Failed",
          "SLURM_JOB_RUN_TIME=00:01:05", "SLURM_JOB_EXIT_CODE_MAX=3", "SLURM_JOB_EXIT_CODE2=3:0"}) {
        EXPECT_NE(std::find(variables.begin(), variables.end(), expected), variables.end())
            << expected;
    }
}

}  // namespace
}  // namespace sluice
