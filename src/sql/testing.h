// sql/testing.h
//
// For tests: one private server of each engine, made when it is first asked for and ended with the
// process. Servers refuse to run as root, so they run as nobody then.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sql/database.h"

namespace sluice::sql::testing_sql {

inline const std::string kPassword = "it's \"a\" pass\\word";

// The last of the programs that match, by name; empty: none is installed.
inline std::string find_program(const char* pattern) {
    glob_t found{};
    std::string path;
    if (glob(pattern, 0, nullptr, &found) == 0) path = found.gl_pathv[found.gl_pathc - 1];
    globfree(&found);
    return path;
}

// Of a process, as /proc has them.
inline std::vector<pid_t> children_of(pid_t process) {
    std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", process));
    std::vector<pid_t> children;
    for (pid_t child = 0; list >> child;) children.push_back(child);
    return children;
}

class PrivateServer {
public:
    explicit PrivateServer(Engine engine) : engine_(engine) {
        char path[] = "/tmp/sluice-sql-XXXXXX";
        directory_ = mkdtemp(path);
        if (engine == Engine::Sqlite) {
            is_up_ = true;
            return;
        }
        if (const passwd* user = geteuid() == 0 ? getpwnam("nobody") : nullptr) {
            uid_ = user->pw_uid;
            gid_ = user->pw_gid;
            is_up_ = chown(path, uid_, gid_) == 0;
        }
        is_up_ = engine == Engine::Postgresql ? start_postgresql() : start_mariadb();
    }
    ~PrivateServer() {
        if (process_ > 0) {
            kill(process_, engine_ == Engine::Postgresql ? SIGINT : SIGTERM);
            waitpid(process_, nullptr, 0);
        }
        std::filesystem::remove_all(directory_);
    }
    // PostgreSQL only: a connection string of libpq for a database.
    std::string connection(const std::string& name = "sluice") const {
        return "postgresql://sluice:it%27s%20%22a%22%20pass%5Cword@/" + name +
               "?host=" + directory_;
    }
    pid_t process() const { return process_; }
    void give_to_server(const std::string& path) const {
        const int done = uid_ == 0 ? 0 : chown(path.c_str(), uid_, gid_);
        EXPECT_EQ(done, 0);
    }
    // As after a crash of the machine, then as before.
    void crash() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    void start_again() {
        // The processes of the old server end when they notice it.
        for (int i = 0; i < 100; ++i) {
            process_ = start_server();
            if (!wait_for(target("postgres"), false)) return;
        }
        ADD_FAILURE() << "PostgreSQL does not start again";
    }
    PrivateServer(const PrivateServer&) = delete;
    PrivateServer& operator=(const PrivateServer&) = delete;

    bool is_up() const { return is_up_; }
    const std::string& directory() const { return directory_; }

    // Each name is a database of its own.
    Target target(const std::string& name = "sluice") const {
        Target target{.engine = engine_};
        target.path = directory_ + "/" + name + ".db";
        target.user = "sluice";
        target.password = kPassword;
        target.name = name;
        target.hosts = {engine_ == Engine::Mariadb ? directory_ + "/socket" : directory_};
        return target;
    }
    // Makes an empty database of this name.
    void make_database(const std::string& name) const {
        if (engine_ != Engine::Postgresql) return;
        (void)open(target("postgres")).value()->run(fmt::format("CREATE DATABASE {}", name));
    }

    static PrivateServer& of(Engine engine) {
        static PrivateServer sqlite(Engine::Sqlite);
        if (engine == Engine::Sqlite) return sqlite;
        if (engine == Engine::Postgresql) {
            static PrivateServer postgresql(Engine::Postgresql);
            return postgresql;
        }
        static PrivateServer mariadb(Engine::Mariadb);
        return mariadb;
    }

private:
    pid_t start(const std::vector<std::string>& arguments) const {
        const pid_t child = fork();
        if (child != 0) return child;
        if (uid_ != 0 && (setgid(gid_) != 0 || setuid(uid_) != 0)) _exit(126);
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // setuid() would clear it
        const int log = ::open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, 1);
        dup2(log, 2);
        if (chdir(directory_.c_str()) != 0) _exit(126);
        setenv("HOME", directory_.c_str(), 1);
        setenv("LC_ALL", "C", 1);
        std::vector<char*> words;
        for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
        words.push_back(nullptr);
        execv(words[0], words.data());
        _exit(127);
    }
    bool run(const std::vector<std::string>& arguments) const {
        int status = 0;
        return waitpid(start(arguments), &status, 0) > 0 && status == 0;
    }
    // Until a connection succeeds, for at most a minute.
    std::optional<std::string> wait_for(const Target& target, bool must = true) const {
        std::string why = "it ended";
        for (int i = 0; i < 600 && waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
            auto connected = open(target);
            if (connected) return std::nullopt;
            why = connected.error().detail;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        if (!must) return why;
        std::ifstream log(directory_ + "/log");
        ADD_FAILURE() << engine_name(engine_) << " does not start: " << why << "\n" << log.rdbuf();
        return why;
    }

    static std::string postgresql_programs() {
        return std::filesystem::path(find_program("/usr/lib/postgresql/*/bin/initdb"))
            .parent_path();
    }
    pid_t start_server() const {
        return start({postgresql_programs() + "/postgres", "-D", directory_ + "/data", "-k",
                      directory_, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                      "max_connections=20"});
    }

    bool start_postgresql() {
        const std::string bin = postgresql_programs();
        if (bin.empty()) return false;
        const std::string data = directory_ + "/data", password = directory_ + "/password";
        std::ofstream(password) << kPassword;
        if (!run({bin + "/initdb", "-D", data, "-U", "sluice", "-A", "scram-sha-256", "--pwfile",
                  password, "-E", "UTF8", "--locale=C", "--no-sync"}))
            ADD_FAILURE() << "initdb failed";
        process_ = start_server();
        if (wait_for(target("postgres"))) return false;
        make_database("sluice");
        return true;
    }

    bool start_mariadb() {
        const std::string server = find_program("/usr/sbin/mariadbd");
        if (server.empty()) return false;
        const std::string data = "--datadir=" + directory_ + "/data";
        if (!run({"/usr/bin/mariadb-install-db", "--no-defaults", data,
                  "--auth-root-authentication-method=normal", "--skip-test-db"}))
            ADD_FAILURE() << "mariadb-install-db failed";
        process_ = start({server, "--no-defaults", data, "--socket=" + directory_ + "/socket",
                          "--skip-networking", "--pid-file=" + directory_ + "/pid",
                          "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M"});
        Target root = target("mysql");
        root.user = "root";
        root.password = "";
        if (wait_for(root)) return false;
        auto database = open(root).value();
        const std::string quoted = "'it''s \"a\" pass\\\\word'";
        EXPECT_TRUE(database->run("CREATE USER sluice@localhost IDENTIFIED BY " + quoted));
        EXPECT_TRUE(database->run("GRANT ALL ON *.* TO sluice@localhost"));
        return true;
    }

    Engine engine_;
    std::string directory_;
    uid_t uid_ = 0;
    gid_t gid_ = 0;
    pid_t process_ = -1;
    bool is_up_ = false;
};

// A test with the engine as its parameter.
class EngineTest : public testing::TestWithParam<Engine> {
protected:
    void SetUp() override {
        if (!PrivateServer::of(GetParam()).is_up())
            GTEST_SKIP() << engine_name(GetParam()) << " is not installed";
    }
};

inline std::string test_name(const testing::TestParamInfo<Engine>& info) {
    return std::string(engine_name(info.param));
}

}  // namespace sluice::sql::testing_sql
