// Two tasks on the first of two nodes, which speak PMI-1 and PMI-2 over their descriptors.
#include "stepd/pmi_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "model/sizes.h"

namespace sluice {
namespace {

class PmiServed : public testing::Test {
protected:
    void SetUp() override {
        order_.mutable_run()->set_job(7);
        order_.mutable_run()->set_step(1);
        wire::LaunchTasks& tasks = *order_.mutable_tasks();
        tasks.set_total_tasks(3);
        tasks.add_task_ids(0);
        tasks.add_task_ids(1);
        tasks.set_process_mapping("(vector,(0,1,2),(1,1,1))");
        Pmi::Handlers handlers;
        handlers.send = [this](const wire::StepOutput& output) { sent_.push_back(output); };
        handlers.on_ready = [this](Result<void> ready) { is_ready_ = bool(ready); };
        handlers.say = [this](const std::string& line) { said_.push_back(line); };
        server_.emplace(loop_, order_, std::move(handlers));
        ASSERT_TRUE(server_->start());
        ASSERT_TRUE(is_ready_);
        for (std::size_t local : {0, 1}) {
            ProcessSpec spec;
            ASSERT_TRUE(server_->add_task(local, environments_[local], spec));
            tasks_[local].reset(dup(spec.inherited));
            server_->task_started(local);
        }
    }

    void write_to(std::size_t task, std::string_view text) {
        ASSERT_EQ(send(tasks_[task].get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    std::string ask(std::size_t task, std::string_view text) {
        write_to(task, text);
        loop_.run_once();
        return read_from(task);
    }
    std::string read_from(std::size_t task) {
        char buffer[4096];
        const ssize_t count = recv(tasks_[task].get(), buffer, sizeof buffer, MSG_DONTWAIT);
        return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
    }
    std::string ask_two(std::size_t task, const PmiCommand& command) {
        return ask(task, print_pmi(PmiDialect::Two, command));
    }
    void answer_fence(const std::string& key, const wire::PmiPairs& pairs) {
        wire::StepInput input;
        input.mutable_exchanged()->set_key(key);
        input.mutable_exchanged()->set_data(pairs.SerializeAsString());
        input.mutable_exchanged()->set_last(true);
        ASSERT_TRUE(server_->on_input(input));
    }

    wire::StepOrder order_;
    EventLoop loop_;
    std::optional<PmiServer> server_;
    Environment environments_[2];
    Fd tasks_[2];
    std::vector<wire::StepOutput> sent_;
    std::vector<std::string> said_;
    bool is_ready_ = false;
};

TEST_F(PmiServed, TasksAreToldWhoTheyAre) {
    EXPECT_EQ(environments_[1].get("PMI_RANK"), "1");
    EXPECT_EQ(environments_[1].get("PMI_SIZE"), "3");
    EXPECT_EQ(environments_[1].get("PMI_JOBID"), "7.1");
    EXPECT_EQ(environments_[1].get("PMI_FD"), "4");
    EXPECT_EQ(ask(0, "cmd=init pmi_version=1 pmi_subversion=1\n"),
              "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    EXPECT_EQ(ask(0, "cmd=get_maxes\n"),
              "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
    EXPECT_EQ(ask(0, "cmd=get_my_kvsname\n"), "cmd=my_kvsname kvsname=7.1 rc=0\n");
    EXPECT_EQ(ask(0, "cmd=get_universe_size\n"), "cmd=universe_size size=3 rc=0\n");
    EXPECT_EQ(ask(0, "cmd=get kvsname=7.1 key=PMI_process_mapping\n"),
              "cmd=get_result value=(vector,(0,1,2),(1,1,1)) rc=0\n");
}

TEST_F(PmiServed, AFenceOfOneEndsWhenAllNodesAreThere) {
    for (std::size_t task : {0, 1}) ask(task, "cmd=init pmi_version=1 pmi_subversion=1\n");
    EXPECT_EQ(ask(0, "cmd=put kvsname=7.1 key=a value=x\n"), "cmd=put_result rc=0\n");
    EXPECT_EQ(ask(0, "cmd=barrier_in\n"), "");
    EXPECT_TRUE(sent_.empty());
    EXPECT_EQ(ask(1, "cmd=barrier_in\n"), "");
    ASSERT_EQ(sent_.size(), 1u);
    wire::PmiPairs pairs;
    ASSERT_TRUE(pairs.ParseFromString(sent_[0].exchange().data()));
    EXPECT_EQ(pairs.keys_size(), 1);
    pairs.add_keys("far");
    pairs.add_values("y");
    answer_fence(sent_[0].exchange().key(), pairs);
    for (std::size_t task : {0, 1}) EXPECT_EQ(read_from(task), "cmd=barrier_out rc=0\n");
    EXPECT_EQ(ask(1, "cmd=get kvsname=7.1 key=far\n"), "cmd=get_result value=y rc=0\n");
    EXPECT_EQ(ask(1, "cmd=get kvsname=7.1 key=a\n"), "cmd=get_result value=x rc=0\n");
    EXPECT_EQ(ask(1, "cmd=get kvsname=7.1 key=no\n"),
              "cmd=get_result value=unknown rc=-1 msg=no_such_key\n");
    EXPECT_EQ(ask(1, "cmd=finalize\n"), "cmd=finalize_ack rc=0\n");
    // Each fence is another one, and what was sent is not sent again.
    ask(0, "cmd=barrier_in\n");
    ask(1, "cmd=barrier_in\n");
    ASSERT_EQ(sent_.size(), 2u);
    EXPECT_NE(sent_[1].exchange().key(), sent_[0].exchange().key());
    EXPECT_TRUE(sent_[1].exchange().data().empty());
}

TEST_F(PmiServed, Two) {
    EXPECT_EQ(ask(0, "cmd=init pmi_version=2 pmi_subversion=0\n"),
              "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
    EXPECT_NE(ask_two(0, {"fullinit", {{"pmirank", "0"}}}).find("rank=0;size=3;appnum=0;"),
              std::string::npos);
    EXPECT_EQ(ask_two(0, {"job-getid", {{"thrid", "9"}}}),
              print_pmi(PmiDialect::Two,
                        {"job-getid-response", {{"jobid", "7.1"}, {"rc", "0"}, {"thrid", "9"}}}));
    EXPECT_NE(ask_two(0, {"info-getjobattr", {{"key", "PMI_process_mapping"}}}).find("flag=TRUE"),
              std::string::npos);
    EXPECT_NE(ask_two(0, {"info-getjobattr", {{"key", "other"}}}).find("flag=FALSE"),
              std::string::npos);
    // An attribute of the node that another task puts later.
    ask(1, "cmd=init pmi_version=2 pmi_subversion=0\n");
    EXPECT_EQ(ask_two(0, {"info-getnodeattr", {{"key", "n"}, {"wait", "TRUE"}}}), "");
    ask_two(1, {"info-putnodeattr", {{"key", "n"}, {"value", "a;b"}}});
    EXPECT_NE(read_from(0).find("value=a;;b;"), std::string::npos);
    EXPECT_NE(ask_two(0, {"spawn", {}}).find("rc=-1;errmsg=spawn is not supported"),
              std::string::npos);
    EXPECT_NE(ask_two(0, {"finalize", {}}).find("rc=0"), std::string::npos);
    EXPECT_NE(ask(0, "cmd=init pmi_version=1 pmi_subversion=1\n").find("rc=0"), std::string::npos);
}

// Of one task several threads may ask, and several tasks.
TEST_F(PmiServed, AnAttributeOfTheNodeAnswersAllThatWaitForIt) {
    for (std::size_t task : {0, 1}) ask(task, "cmd=init pmi_version=2 pmi_subversion=0\n");
    for (const char* thread : {"1", "2"})
        EXPECT_EQ(
            ask_two(1, {"info-getnodeattr", {{"key", "n"}, {"wait", "TRUE"}, {"thrid", thread}}}),
            "");
    EXPECT_EQ(ask_two(0, {"info-getnodeattr", {{"key", "other"}, {"wait", "TRUE"}}}), "");
    EXPECT_NE(ask_two(0, {"info-putnodeattr", {{"key", "n"}, {"value", "here"}}}).find("rc=0"),
              std::string::npos);
    const std::string answers = read_from(1);
    for (const char* thread : {"thrid=1;", "thrid=2;"})
        EXPECT_NE(answers.find(thread), std::string::npos) << answers;
    EXPECT_NE(answers.find("value=here;"), std::string::npos) << answers;
    EXPECT_EQ(read_from(0), "");  // it waits for another one
    ask_two(1, {"info-putnodeattr", {{"key", "other"}, {"value", "there"}}});
    EXPECT_NE(read_from(0).find("value=there;"), std::string::npos);
}

TEST_F(PmiServed, AnAbortHasItsCode) {
    ask(1, "cmd=init pmi_version=1 pmi_subversion=1\n");
    ask(1, "cmd=abort exitcode=7\n");
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0].abort().task(), 1u);
    EXPECT_EQ(sent_[0].abort().code(), 7);
}

TEST_F(PmiServed, ATaskThatIsGoneBetweenInitAndFinalizeIsReported) {
    tasks_[0].reset();  // it has never used PMI
    loop_.run_once();
    EXPECT_TRUE(sent_.empty());
    ask(1, "cmd=init pmi_version=1 pmi_subversion=1\n");
    tasks_[1].reset();
    loop_.run_once();
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0].abort().task(), 1u);
    EXPECT_FALSE(sent_[0].abort().has_code());
}

TEST_F(PmiServed, ATaskThatWritesRubbishIsCutOff) {
    ask(0, "cmd=init pmi_version=1 pmi_subversion=1\n");
    EXPECT_EQ(ask(0, "rubbish\n"), "");
    EXPECT_EQ(said_.size(), 1u);
    EXPECT_EQ(send(tasks_[0].get(), "x", 1, MSG_NOSIGNAL), -1);
    EXPECT_EQ(ask(1, "cmd=get_appnum\n"), "cmd=appnum appnum=0 rc=0\n");
}

TEST_F(PmiServed, UnknownCommandsAreRefusedAndComplaintsHaveAnEnd) {
    EXPECT_EQ(ask(0, "cmd=frob\n"), "cmd=frob_result rc=-1 msg=frob_is_not_supported_by_Sluice\n");
    for (int i = 0; i < 100; ++i) ask(0, "cmd=frob\n");
    EXPECT_EQ(said_.size(), 10u);
}

TEST_F(PmiServed, PairsAreLimited) {
    const std::string value(60u << 10, 'x');
    std::string answer;
    std::size_t puts = 0;
    do {
        answer = ask(0, "cmd=put key=" + std::to_string(puts) + " value=" + value + "\n");
        if (answer.empty()) loop_.run_once(), answer = read_from(0);
    } while (answer == "cmd=put_result rc=0\n" && ++puts < 1000);
    EXPECT_NE(answer.find("rc=-1"), std::string::npos);
    EXPECT_LT(puts * value.size(), sizes::kExchange);
}

// It sends questions and reads no answer: it is not read any more, and nothing grows.
TEST_F(PmiServed, ATaskThatDoesNotReadIsNotRead) {
    const std::string question = "cmd=get_my_kvsname\n";
    std::string many;
    while (many.size() < (64u << 10)) many += question;
    std::size_t taken = 0;
    for (int idle = 0; idle < 5 && taken < (64u << 20);) {
        const ssize_t count = send(tasks_[0].get(), many.data(), many.size(), MSG_DONTWAIT);
        idle = count > 0 ? 0 : idle + 1;
        if (count > 0) taken += static_cast<std::size_t>(count);
        loop_.after(std::chrono::milliseconds{1}, [] {});
        loop_.run_once();
    }
    EXPECT_LT(taken, 8u << 20);
}

TEST_F(PmiServed, ProgramsThatFollowEachOtherSeeNothingOfThoseBefore) {
    const std::string init = "cmd=init pmi_version=1 pmi_subversion=1\n";
    for (std::size_t task : {0, 1}) ask(task, init);
    ask(0, "cmd=put kvsname=7.1 key=a value=old\n");
    EXPECT_NE(ask(1, "cmd=get kvsname=7.1 key=a\n").find("value=old"), std::string::npos);
    ask(0, "cmd=finalize\n");
    ask(0, init);
    // The other task is still in the first program.
    EXPECT_EQ(ask(0, "cmd=get kvsname=7.1 key=a\n").find("value=old"), std::string::npos);
    ask(0, "cmd=put kvsname=7.1 key=a value=new\n");
    EXPECT_NE(ask(1, "cmd=get kvsname=7.1 key=a\n").find("value=old"), std::string::npos);
    ask(1, "cmd=finalize\n");
    ask(1, init);
    EXPECT_NE(ask(1, "cmd=get kvsname=7.1 key=a\n").find("value=new"), std::string::npos);
}

}  // namespace
}  // namespace sluice
