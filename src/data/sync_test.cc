#include "data/sync.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "data/copy_file.h"
#include "os/files.h"

namespace sluice::data {
namespace {

using namespace std::chrono_literals;

class Sync : public testing::Test {
protected:
    Sync() {
        char path[] = "/tmp/sync_test.XXXXXX";
        directory_ = mkdtemp(path);
        EXPECT_TRUE(make_directories(local()));
    }
    ~Sync() override { remove_tree(directory_); }

    std::string local() const { return directory_ + "/local"; }
    std::string persistent() const { return directory_ + "/persistent"; }

    // A file that was closed long ago; `age` orders them.
    void write(const std::string& name, const std::string& text, int age = 0) const {
        const std::string path = local() + "/" + name;
        ASSERT_TRUE(make_directories(directory_of(path)));
        ASSERT_TRUE(write_file_atomically(path, text));
        const timespec then{1'700'000'000 - age, 123'456'789};
        const timespec times[] = {then, then};
        ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }
    std::string copy_of(const std::string& name) const {
        const Result<std::string> text = read_file(persistent() + "/" + name);
        return text ? *text : "missing";
    }
    std::vector<std::string> names() const {
        std::vector<std::string> found = list_directory(persistent());
        std::erase_if(found, [](const std::string& name) { return name.starts_with(kOwnNames); });
        std::sort(found.begin(), found.end());
        return found;
    }
    SyncReport run(Synchroniser& sync, Synchroniser::Clock::time_point when) {
        const Result<SyncReport> report = sync.run(when);
        EXPECT_TRUE(report) << report.error().detail;
        return report ? *report : SyncReport{};
    }
    // Two looks, as far apart as any file needs.
    SyncReport settle(Synchroniser& sync) {
        (void)run(sync, now_);
        now_ += 60s;
        return run(sync, now_);
    }

    std::string directory_;
    Synchroniser::Clock::time_point now_{1h};
};

TEST_F(Sync, CopiesFilesWithTheirTimeAndMode) {
    write("step-1.pt", "weights");
    write("run/events.1", "log");
    ASSERT_EQ(chmod((local() + "/step-1.pt").c_str(), 0640), 0);
    Synchroniser sync({local(), persistent()});
    (void)settle(sync);
    EXPECT_EQ(copy_of("step-1.pt"), "weights");
    EXPECT_EQ(copy_of("run/events.1"), "log");
    struct stat original {
    }, copy{};
    ASSERT_EQ(stat((local() + "/step-1.pt").c_str(), &original), 0);
    ASSERT_EQ(stat((persistent() + "/step-1.pt").c_str(), &copy), 0);
    EXPECT_EQ(copy.st_mode & 0777, 0640u);
    EXPECT_EQ(change_time(original), change_time(copy));
}

TEST_F(Sync, CopiesAFileOnceUntilItChanges) {
    write("a", "one");
    Synchroniser sync({local(), persistent()});
    (void)run(sync, now_);
    EXPECT_EQ(run(sync, now_ += 60s).files, 1u);
    EXPECT_EQ(run(sync, now_ += 60s).files, 0u);
    write("a", "two", -5);
    EXPECT_EQ(run(sync, now_ += 60s).files, 0u);  // seen for the first time
    EXPECT_EQ(run(sync, now_ += 60s).files, 1u);
    EXPECT_EQ(copy_of("a"), "two");
    Synchroniser other({local(), persistent(), {}, true});  // as of another process
    EXPECT_EQ(run(other, now_).files, 0u);
}

TEST_F(Sync, WaitsForAFileThatGrows) {
    Synchroniser sync({local(), persistent()});
    for (int i = 1; i <= 5; ++i) {
        write("growing", std::string(static_cast<std::size_t>(i), 'x'), -i);
        EXPECT_EQ(run(sync, now_ += 60s).waiting, std::vector<std::string>{"growing"});
        EXPECT_EQ(names(), std::vector<std::string>{});
    }
    EXPECT_TRUE(run(sync, now_ += 60s).waiting.empty());
    EXPECT_EQ(copy_of("growing"), "xxxxx");
}

TEST_F(Sync, WaitsLongerForAFileThatAProcessWrites) {
    write("log", "lines");
    const Fd writer(open((local() + "/log").c_str(), O_WRONLY | O_APPEND));
    const Fd reader(open((local() + "/log").c_str(), O_RDONLY));
    if (!is_open_for_writing(reader.get())) GTEST_SKIP() << "no leases on this file system";
    ASSERT_TRUE(*is_open_for_writing(reader.get()));
    Synchroniser sync({local(), persistent()});
    (void)run(sync, now_);
    EXPECT_EQ(run(sync, now_ + 29s).files, 0u);
    EXPECT_EQ(run(sync, now_ + 30s).files, 1u);
}

TEST_F(Sync, TheLastOneWaitsForNothing) {
    write("a", "text");
    const Fd writer(open((local() + "/a").c_str(), O_WRONLY | O_APPEND));
    Synchroniser sync({local(), persistent(), {}, true});
    EXPECT_EQ(run(sync, now_).files, 1u);
}

TEST_F(Sync, LeavesOutAnArchiveWithoutItsEnd) {
    const std::string whole = "PK\x03\x04 tensors PK\x05\x06" + std::string(18, '\0');
    write("whole.pt", whole, 1);
    write("torn.pt", "PK\x03\x04 tens");
    Synchroniser sync({local(), persistent(), {}, true});
    const SyncReport report = run(sync, now_);
    EXPECT_EQ(names(), std::vector<std::string>{"whole.pt"});
    ASSERT_EQ(report.left_out.size(), 1u);
    EXPECT_EQ(report.left_out[0], "torn.pt: its end is missing");
}

TEST_F(Sync, KeepsTheNewestCheckpoints) {
    for (int i = 1; i <= 5; ++i) write("step-" + std::to_string(i), "x", 100 - i);
    Synchroniser sync({local(), persistent(), 2});
    EXPECT_EQ(settle(sync).files, 2u);  // older ones are not copied at all
    EXPECT_EQ(names(), (std::vector<std::string>{"step-4", "step-5"}));
    write("step-6/model", "x", 90);
    write("step-6/optimizer", "x", 91);
    (void)settle(sync);
    EXPECT_EQ(names(), (std::vector<std::string>{"step-5", "step-6"}));
    // Those that the program has removed itself still count.
    remove_tree(local());
    write("step-7", "x", 80);
    (void)settle(sync);
    EXPECT_EQ(names(), (std::vector<std::string>{"step-6", "step-7"}));
}

TEST_F(Sync, TheNewestCheckpointIsSavedFirst) {
    ASSERT_TRUE(make_directories(directory_ + "/elsewhere"));
    ASSERT_TRUE(make_directories(persistent()));
    ASSERT_EQ(symlink("../elsewhere", (persistent() + "/a").c_str()), 0);
    for (const char* name : {"a/model", "b/model", "c/model"}) write(name, "x", name[0]);
    write("d/model", "x", 'b');  // older than a
    ASSERT_EQ(symlink("c", (local() + "/0").c_str()), 0);
    Synchroniser sync({local(), persistent(), {}, true});
    EXPECT_FALSE(sync.run(now_));  // at a, the newest one
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
    write("a/model", "x", 'c');
    write("c/model", "x", 0);
    EXPECT_FALSE(sync.run(now_));
    EXPECT_EQ(names(), (std::vector<std::string>{"a", "b", "c", "d"}));
}

TEST_F(Sync, NeverHasMoreThanOneTooMany) {
    for (int i = 1; i <= 2; ++i) write("step-" + std::to_string(i), "x", 100 - i);
    Synchroniser sync({local(), persistent(), 2});
    (void)settle(sync);
    for (int i = 3; i <= 6; ++i)
        write("step-" + std::to_string(i), std::string(1 << 20, 'x'), 100 - i);
    std::atomic<bool> is_done = false;
    std::size_t most = 0;
    std::thread other([&] {
        while (!is_done) most = std::max(most, names().size());
    });
    (void)settle(sync);
    is_done = true;
    other.join();
    EXPECT_LE(most, 3u);
    EXPECT_EQ(names(), (std::vector<std::string>{"step-5", "step-6"}));
}

TEST_F(Sync, WhatAKilledOneHasLeftIsRemovedEvenIfNothingIsNew) {
    for (int i = 1; i <= 3; ++i) write("step-" + std::to_string(i), "x", 100 - i);
    Synchroniser all({local(), persistent()});
    (void)settle(all);
    EXPECT_EQ(names().size(), 3u);
    remove_tree(local());
    ASSERT_TRUE(make_directories(local()));
    Synchroniser sync({local(), persistent(), 2});
    (void)run(sync, now_);
    EXPECT_EQ(names(), (std::vector<std::string>{"step-2", "step-3"}));
}

TEST_F(Sync, NeverRemovesWhatItHasNotWritten) {
    ASSERT_TRUE(make_directories(persistent() + "/mine"));
    ASSERT_TRUE(write_file_atomically(persistent() + "/notes.txt", "mine"));
    write("a", "x", 9);
    write("b", "x", 8);
    Synchroniser sync({local(), persistent(), 1});
    (void)settle(sync);
    EXPECT_EQ(names(), (std::vector<std::string>{"b", "mine", "notes.txt"}));
}

TEST_F(Sync, AnIncompleteCheckpointDoesNotReplaceACompleteOne) {
    write("a", "x", 9);
    Synchroniser sync({local(), persistent(), 1});
    (void)settle(sync);
    write("b/1", "x", 8);
    (void)run(sync, now_ += 60s);
    write("b/2", "x", 7);
    (void)run(sync, now_ += 60s);
    EXPECT_EQ(names(), std::vector<std::string>{"a"});
    (void)run(sync, now_ += 60s);
    EXPECT_EQ(names(), std::vector<std::string>{"b"});
    EXPECT_EQ(copy_of("b/1") + copy_of("b/2"), "xx");
}

TEST_F(Sync, FollowsNoLinkOutOfTheTree) {
    ASSERT_TRUE(write_file_atomically(directory_ + "/secret", "secret"));
    write("a/model", "x");
    ASSERT_EQ(symlink("a", (local() + "/latest").c_str()), 0);
    ASSERT_EQ(symlink("../secret", (local() + "/out").c_str()), 0);
    ASSERT_EQ(symlink("/etc", (local() + "/a/etc").c_str()), 0);
    ASSERT_EQ(symlink("../../secret", (local() + "/a/far").c_str()), 0);
    Synchroniser sync({local(), persistent(), 1});
    const SyncReport report = settle(sync);
    EXPECT_EQ(names(), (std::vector<std::string>{"a", "latest"}));
    EXPECT_EQ(list_directory(persistent() + "/a"), std::vector<std::string>{"model"});
    EXPECT_EQ(report.left_out.size(), 3u);
    EXPECT_EQ(Below::open(persistent())->link_target("latest"), "a");
}

TEST_F(Sync, AReplacedDirectoryInTheTargetIsNotFollowed) {
    ASSERT_TRUE(make_directories(directory_ + "/elsewhere"));
    ASSERT_TRUE(make_directories(persistent()));
    ASSERT_EQ(symlink("../elsewhere", (persistent() + "/a").c_str()), 0);
    write("a/model", "x");
    Synchroniser sync({local(), persistent(), {}, true});
    EXPECT_FALSE(sync.run(now_));
    EXPECT_TRUE(list_directory(directory_ + "/elsewhere").empty());
}

TEST_F(Sync, TakesOddNames) {
    const std::string odd[] = {"line\nbreak", "back\\slash", "\xc3\xbc \xff", " ", "-n", "C 1 x"};
    for (const std::string& name : odd) write(name, name);
    Synchroniser sync({local(), persistent(), 6});
    (void)settle(sync);
    for (const std::string& name : odd) EXPECT_EQ(copy_of(name), name);
    EXPECT_EQ(read_sync_state(persistent()).size(), std::size(odd));
}

TEST_F(Sync, KeepsHoles) {
    const std::string path = local() + "/sparse";
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT, 0644));
    ASSERT_EQ(ftruncate(file.get(), off_t{1} << 30), 0);
    ASSERT_EQ(pwrite(file.get(), "end", 3, (off_t{1} << 30) - 3), 3);
    file.reset();
    Synchroniser sync({local(), persistent(), {}, true});
    (void)run(sync, now_);
    struct stat copy {};
    ASSERT_EQ(stat((persistent() + "/sparse").c_str(), &copy), 0);
    EXPECT_EQ(copy.st_size, off_t{1} << 30);
    EXPECT_LT(copy.st_blocks * 512, 1 << 20);
    const Fd read(open((persistent() + "/sparse").c_str(), O_RDONLY));
    char end[4] = {};
    ASSERT_EQ(pread(read.get(), end, 3, (off_t{1} << 30) - 3), 3);
    EXPECT_STREQ(end, "end");
}

TEST_F(Sync, SaysWhichDirectoryIsMissingOrNotWritable) {
    Synchroniser missing({directory_ + "/nowhere", persistent()});
    EXPECT_TRUE(run(missing, now_).is_local_missing);
    ASSERT_TRUE(write_file_atomically(persistent(), "a file"));
    write("a", "x");
    Synchroniser sync({local(), persistent(), {}, true});
    const Result<SyncReport> report = sync.run(now_);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().detail.find(persistent()), std::string::npos);
}

TEST_F(Sync, WaitsForAnotherOneOfTheSameTarget) {
    write("a", "x");
    ASSERT_TRUE(make_directories(persistent()));
    Fd lock(open((persistent() + "/.sluice-sync.lock").c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
    std::atomic<bool> is_done = false;
    std::thread other([&] {
        Synchroniser sync({local(), persistent(), {}, true});
        EXPECT_EQ(run(sync, now_).files, 1u);
        is_done = true;
    });
    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(is_done);
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_TRUE(names().empty());
    lock.reset();
    other.join();
}

TEST_F(Sync, RestoresTheNewestCompleteCheckpoint) {
    write("step-1/model", "one", 20);
    write("step-2/model", "two", 10);
    write("step-2/deep/down/optimizer", "2", 11);
    ASSERT_EQ(symlink("step-2", (local() + "/latest").c_str()), 0);
    Synchroniser sync({local(), persistent()});
    (void)settle(sync);
    SyncState state = read_sync_state(persistent());
    state["step-3"] = {SyncedEntry::Kind::Partial, INT64_MAX};
    ASSERT_TRUE(write_sync_state(persistent(), state));
    ASSERT_TRUE(make_directories(persistent() + "/step-3"));

    const std::string target = directory_ + "/new/local";
    const Result<std::string> restored = restore_newest(persistent(), target);
    ASSERT_TRUE(restored) << restored.error().detail;
    EXPECT_EQ(*restored, "step-2");
    EXPECT_EQ(*read_file(target + "/step-2/model"), "two");
    EXPECT_EQ(*read_file(target + "/latest/deep/down/optimizer"), "2");
    EXPECT_EQ(list_directory(target).size(), 2u);
    // What was restored is not copied again.
    Synchroniser next({target, persistent(), {}, true});
    EXPECT_EQ(run(next, now_).files, 0u);
}

// It has a new file and an old one: neither the old checkpoint nor the new one.
TEST_F(Sync, ACheckpointThatIsReplacedInPartIsNotRestored) {
    write("step-1/model", "one", 20);
    write("step-2/model", "two", 10);
    write("step-2/optimizer", "two", 10);
    Synchroniser sync({local(), persistent()});
    (void)settle(sync);
    write("step-2/model", "new", 5);
    write("step-2/optimizer", "new", 5);
    // One file cannot be replaced: as if the last synchronisation had been killed in its middle.
    const std::string obstacle = persistent() + "/step-2/optimizer";
    ASSERT_EQ(unlink(obstacle.c_str()), 0);
    ASSERT_TRUE(make_directories(obstacle + "/full"));
    Synchroniser last({local(), persistent(), {}, true});
    ASSERT_FALSE(last.run(now_));
    EXPECT_EQ(read_sync_state(persistent()).at("step-2").kind, SyncedEntry::Kind::Partial);
    EXPECT_EQ(*restore_newest(persistent(), directory_ + "/new"), "step-1");
}

TEST_F(Sync, RestoresNothingWhereNothingWasSynchronised) {
    ASSERT_TRUE(make_directories(persistent()));
    ASSERT_TRUE(write_file_atomically(persistent() + "/foreign", "x"));
    const Result<std::string> restored = restore_newest(persistent(), directory_ + "/new");
    ASSERT_TRUE(restored);
    EXPECT_EQ(*restored, "");
    EXPECT_EQ(*restore_newest(directory_ + "/nowhere", directory_ + "/new"), "");
}

TEST(SyncState, IsReadAsItWasWritten) {
    const SyncState state{{"a b\n\\n", {SyncedEntry::Kind::Complete, 17}},
                          {"C 1 x", {SyncedEntry::Kind::Partial, 0}},
                          {"link", {SyncedEntry::Kind::Link, 0}}};
    EXPECT_EQ(parse_sync_state(print_sync_state(state)), state);
    EXPECT_TRUE(parse_sync_state("C 1 a/b\nC 1 ..\nX 1 a\nC -1 a\nC 1\n\nC 1 .sluice-sync.part\n"
                                 "C 99999999999999999999 a\n")
                    .empty());
}

TEST(Links, StayInsideByTheirText) {
    EXPECT_TRUE(stays_inside("latest", "step-1"));
    EXPECT_TRUE(stays_inside("a/b/link", "../../c"));
    EXPECT_FALSE(stays_inside("a/b/link", "../../../c"));
    EXPECT_FALSE(stays_inside("link", ".."));
    EXPECT_FALSE(stays_inside("a/link", "../x/../../a"));
    EXPECT_FALSE(stays_inside("link", "/tmp"));
    EXPECT_FALSE(stays_inside("link", ""));
}

}  // namespace
}  // namespace sluice::data
