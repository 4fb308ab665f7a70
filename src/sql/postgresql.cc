// sql/postgresql.cc
//
// The PostgreSQL engine of database.h, by libpq. Values are sent as text or, if they are bytes, in
// binary form; answers come as text. No call waits longer than the timeout of the target: the
// server ends a statement that takes too long, and a server that does not answer is given up.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <charconv>
#include <unordered_map>

#include "base/text.h"
#include "model/state_location.h"
#include "sql/drivers.h"

namespace sluice::sql {

namespace {

constexpr Dialect kPostgresqlDialect{.engine = Engine::Postgresql,
                                     .bytes_type = "BYTEA",
                                     .key_text_type = "TEXT",
                                     .auto_id = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"};

using Clock = std::chrono::steady_clock;

struct Libpq {
    decltype(&PQconninfoParse) parse = nullptr;
    decltype(&PQconninfoFree) free_parsed = nullptr;
    decltype(&PQfreemem) free_memory = nullptr;
    decltype(&PQconnectdbParams) connect = nullptr;
    decltype(&PQsetnonblocking) set_nonblocking = nullptr;
    decltype(&PQflush) flush = nullptr;
    decltype(&PQstatus) status = nullptr;
    decltype(&PQsocket) socket = nullptr;
    decltype(&PQerrorMessage) error_message = nullptr;
    decltype(&PQfinish) finish = nullptr;
    decltype(&PQsendPrepare) send_prepare = nullptr;
    decltype(&PQsendQueryPrepared) send_query_prepared = nullptr;
    decltype(&PQsendQuery) send_query = nullptr;
    decltype(&PQconsumeInput) consume_input = nullptr;
    decltype(&PQisBusy) is_busy = nullptr;
    decltype(&PQgetResult) get_result = nullptr;
    decltype(&PQclear) clear = nullptr;
    decltype(&PQresultStatus) result_status = nullptr;
    decltype(&PQresultErrorMessage) result_error = nullptr;
    decltype(&PQresultErrorField) error_field = nullptr;
    decltype(&PQcmdTuples) changed_rows = nullptr;
    decltype(&PQcmdStatus) command_status = nullptr;
    decltype(&PQntuples) rows = nullptr;
    decltype(&PQnfields) columns = nullptr;
    decltype(&PQftype) type = nullptr;
    decltype(&PQgetvalue) value = nullptr;
    decltype(&PQgetlength) length = nullptr;
    decltype(&PQgetisnull) is_null = nullptr;
};

Result<Libpq> load_libpq() {
    void* from = TRY(load_library("libpq.so.5", "libpq5"));
    Libpq pq;
    TRY(find_function(from, "PQconninfoParse", pq.parse));
    TRY(find_function(from, "PQconninfoFree", pq.free_parsed));
    TRY(find_function(from, "PQfreemem", pq.free_memory));
    TRY(find_function(from, "PQconnectdbParams", pq.connect));
    TRY(find_function(from, "PQsetnonblocking", pq.set_nonblocking));
    TRY(find_function(from, "PQflush", pq.flush));
    TRY(find_function(from, "PQstatus", pq.status));
    TRY(find_function(from, "PQsocket", pq.socket));
    TRY(find_function(from, "PQerrorMessage", pq.error_message));
    TRY(find_function(from, "PQfinish", pq.finish));
    TRY(find_function(from, "PQsendPrepare", pq.send_prepare));
    TRY(find_function(from, "PQsendQueryPrepared", pq.send_query_prepared));
    TRY(find_function(from, "PQsendQuery", pq.send_query));
    TRY(find_function(from, "PQconsumeInput", pq.consume_input));
    TRY(find_function(from, "PQisBusy", pq.is_busy));
    TRY(find_function(from, "PQgetResult", pq.get_result));
    TRY(find_function(from, "PQclear", pq.clear));
    TRY(find_function(from, "PQresultStatus", pq.result_status));
    TRY(find_function(from, "PQresultErrorMessage", pq.result_error));
    TRY(find_function(from, "PQresultErrorField", pq.error_field));
    TRY(find_function(from, "PQcmdTuples", pq.changed_rows));
    TRY(find_function(from, "PQcmdStatus", pq.command_status));
    TRY(find_function(from, "PQntuples", pq.rows));
    TRY(find_function(from, "PQnfields", pq.columns));
    TRY(find_function(from, "PQftype", pq.type));
    TRY(find_function(from, "PQgetvalue", pq.value));
    TRY(find_function(from, "PQgetlength", pq.length));
    TRY(find_function(from, "PQgetisnull", pq.is_null));
    return pq;
}

const Result<Libpq>& libpq() {
    static const Result<Libpq> loaded = load_libpq();
    return loaded;
}

constexpr Oid kByteaType = 17;

// "\x0aff": what the server prints for bytes.
std::string bytes_of(std::string_view printed) {
    const auto digit = [](char c) {
        return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    };
    std::string bytes;
    bytes.reserve(printed.size() / 2);
    for (std::size_t at = 2; at + 1 < printed.size(); at += 2) {
        bytes.push_back(static_cast<char>(digit(printed[at]) << 4 | digit(printed[at + 1])));
    }
    return bytes;
}

// Messages of libpq have several lines, of which some are hints.
std::string one_line(std::string_view message) {
    std::string line;
    for (const std::string_view part : split(trim(message), '\n')) {
        if (!line.empty()) line += part.starts_with('\t') ? " " : "; ";
        line += trim(part);
    }
    return line;
}

class Answer {  // of one statement
public:
    Answer(const Libpq& pq, PGresult* result) : pq_(&pq), result_(result, pq.clear) {}
    PGresult* get() const { return result_.get(); }
    bool succeeded() const {
        const ExecStatusType status = pq_->result_status(get());
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    }
    std::string why() const { return one_line(pq_->result_error(get())); }
    std::string_view sqlstate() const {
        const char* state = pq_->error_field(get(), PG_DIAG_SQLSTATE);
        return state ? state : "";
    }

private:
    const Libpq* pq_;
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

class PostgresqlRow : public RowView {
public:
    PostgresqlRow(const Libpq& pq, PGresult* result)
        : pq_(pq), result_(result), decoded_(static_cast<std::size_t>(pq.columns(result))) {}
    void go_to(int row) { row_ = row; }

    bool is_null(int column) const override { return pq_.is_null(result_, row_, column) != 0; }
    std::int64_t number(int column) const override { return parsed<std::int64_t>(column); }
    double real(int column) const override { return parsed<double>(column); }
    std::string_view text(int column) const override {
        if (pq_.type(result_, column) != kByteaType) return printed(column);
        std::string& bytes = decoded_[static_cast<std::size_t>(column)];
        bytes = bytes_of(printed(column));
        return bytes;
    }

private:
    std::string_view printed(int column) const {
        return {pq_.value(result_, row_, column),
                static_cast<std::size_t>(pq_.length(result_, row_, column))};
    }
    template <typename Number>
    Number parsed(int column) const {
        const std::string_view text = printed(column);
        Number value{};
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    const Libpq& pq_;
    PGresult* result_;
    int row_ = 0;
    mutable std::vector<std::string> decoded_;
};

// Values in the form that libpq takes.
class Parameters {
public:
    explicit Parameters(const Row& values) {
        printed_.reserve(values.size());
        for (const Value& value : values) add(value);
    }
    int count() const { return static_cast<int>(values_.size()); }
    const char* const* values() const { return values_.data(); }
    const int* lengths() const { return lengths_.data(); }
    const int* formats() const { return formats_.data(); }

private:
    void add(const Value& value) {
        if (const auto* number = std::get_if<std::int64_t>(&value)) {
            add(printed_.emplace_back(std::to_string(*number)), 0);
        } else if (const auto* real = std::get_if<double>(&value)) {
            add(printed_.emplace_back(fmt::format("{}", *real)), 0);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            add(*text, 0);
        } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
            add(bytes->value, 1);
        } else {
            values_.push_back(nullptr);
            lengths_.push_back(0);
            formats_.push_back(0);
        }
    }
    void add(const std::string& bytes, int format) {
        values_.push_back(bytes.c_str());
        lengths_.push_back(static_cast<int>(bytes.size()));
        formats_.push_back(format);
    }

    std::vector<std::string> printed_;
    std::vector<const char*> values_;
    std::vector<int> lengths_, formats_;
};

// A text that cannot be sent completely: libpq takes texts up to their first zero byte.
bool has_zero_byte(const Row& values) {
    for (const Value& value : values) {
        const auto* text = std::get_if<std::string>(&value);
        if (text && text->find('\0') != std::string::npos) return true;
    }
    return false;
}

struct ConnectionKeys {
    std::vector<std::string> names, values;
    void add(std::string name, std::string value) {
        names.push_back(std::move(name));
        values.push_back(std::move(value));
    }
};

// A socket is given as its directory, or as the file ".s.PGSQL.5432" in it.
std::string host_of(const std::string& host) {
    const std::size_t name = host.find("/.s.PGSQL.");
    return name == std::string::npos ? host : host.substr(0, name);
}

// Of each host, in seconds: the least that libpq takes. A host that is silent must not delay for
// long that the next one is asked.
constexpr const char* kConnectMost = "2";

// Those before the connection string may be overridden by it.
ConnectionKeys keys_of_connection(const Target& target) {
    ConnectionKeys keys;
    keys.add("connect_timeout", kConnectMost);
    keys.add("target_session_attrs", "read-write");
    keys.add("application_name", "sluice");
    keys.add("dbname", target.connection);
    keys.add("client_encoding", "UTF8");
    return keys;
}

Result<ConnectionKeys> connection_keys(const Target& target) {
    if (!target.connection.empty()) return keys_of_connection(target);
    if (!target.ssl_ca_path.empty() || !target.ssl_cipher.empty()) {
        return Error{ErrorCode::BadArgument,
                     fmt::format("StorageParameters: {} cannot be used with PostgreSQL",
                                 target.ssl_cipher.empty() ? "SSL_CAPATH" : "SSL_CIPHER")};
    }
    ConnectionKeys keys;
    std::vector<std::string> hosts;
    for (const std::string& host : target.hosts) hosts.push_back(host_of(host));
    keys.add("host", hosts.empty() ? "localhost" : join(hosts, ","));
    if (target.port != 0) keys.add("port", std::to_string(target.port));
    keys.add("user", target.user);
    if (!target.password.empty()) keys.add("password", target.password);
    keys.add("dbname", target.name);
    const auto seconds = std::max<std::int64_t>(target.timeout.count(), 2);  // of each host
    keys.add("connect_timeout", std::to_string(seconds));
    keys.add("options", fmt::format("-c statement_timeout={} -c client_min_messages=warning "
                                    "-c default_transaction_isolation=read\\ committed",
                                    target.timeout.count() * 1000));
    keys.add("client_encoding", "UTF8");
    keys.add("application_name", "sluice");
    const bool has_tls = !target.ssl_ca.empty() || !target.ssl_cert.empty();
    if (has_tls) keys.add("sslmode", target.ssl_ca.empty() ? "require" : "verify-ca");
    if (!target.ssl_ca.empty()) keys.add("sslrootcert", target.ssl_ca);
    if (!target.ssl_cert.empty()) keys.add("sslcert", target.ssl_cert);
    if (!target.ssl_key.empty()) keys.add("sslkey", target.ssl_key);
    return keys;
}

class PostgresqlDatabase : public Database {
public:
    PostgresqlDatabase(const Libpq& pq, Target target) : pq_(pq), target_(std::move(target)) {}
    ~PostgresqlDatabase() override { pq_.finish(connection_); }

    const Dialect& dialect() const override { return kPostgresqlDialect; }
    bool is_lost() const override { return is_lost_; }

    Result<void> reconnect() override {
        pq_.finish(std::exchange(connection_, nullptr));
        prepared_.clear();
        is_lost_ = true;
        const ConnectionKeys keys = TRY(connection_keys(target_));
        std::vector<const char*> names, values;
        for (const std::string& name : keys.names) names.push_back(name.c_str());
        for (const std::string& value : keys.values) values.push_back(value.c_str());
        names.push_back(nullptr);
        values.push_back(nullptr);
        const int is_string = target_.connection.empty() ? 0 : 1;
        // Goes to the next host when the first does not answer within connect_timeout.
        connection_ = pq_.connect(names.data(), values.data(), is_string);
        if (pq_.status(connection_) != CONNECTION_OK) return lost();
        if (pq_.set_nonblocking(connection_, 1) != 0) return lost();
        is_lost_ = false;
        return set_up_session();
    }
    bool is_full() const override { return is_full_; }

    Result<std::uint64_t> run(std::string_view statement, const Row& values) override {
        const Answer answer = TRY(execute(statement, values));
        const std::string_view changed = pq_.changed_rows(answer.get());
        std::uint64_t count = 0;
        std::from_chars(changed.data(), changed.data() + changed.size(), count);
        return count;
    }

    Result<void> query(std::string_view statement, const Row& values,
                       const std::function<Result<void>(const RowView&)>& each) override {
        const Answer answer = TRY(execute(statement, values));
        PostgresqlRow view(pq_, answer.get());
        for (int row = 0; row < pq_.rows(answer.get()); ++row) {
            view.go_to(row);
            TRY(each(view));
        }
        return {};
    }

    Result<void> begin() override { return command("BEGIN"); }
    Result<void> commit() override {
        // The server answers the COMMIT of a failed transaction with ROLLBACK.
        if (pq_.send_query(connection_, "COMMIT") == 0) return lost();
        const Answer answer = TRY(wait());
        if (!answer.succeeded()) return refused(answer);
        if (std::string_view(pq_.command_status(answer.get())) == "COMMIT") return {};
        return Error{ErrorCode::StoreFailed, "PostgreSQL: the transaction had failed"};
    }
    void rollback() override {
        if (!is_lost_) (void)command("ROLLBACK");
    }

private:
    std::string place() const {
        if (!target_.connection.empty()) return without_password(target_.connection);
        return fmt::format("PostgreSQL database {} of {} as {}", target_.name,
                           target_.hosts.empty() ? "localhost" : join(target_.hosts, ","),
                           target_.user);
    }
    Error refused(const Answer& answer) {
        const std::string_view state = answer.sqlstate();
        is_full_ = state == "53100";
        // The server shuts down, or became a replica: another host may take changes.
        const bool must_leave = state.starts_with("57P") || state == "25006";
        if (must_leave || pq_.status(connection_) == CONNECTION_BAD) is_lost_ = true;
        return {ErrorCode::StoreFailed, fmt::format("{}: {}", place(), answer.why())};
    }
    Error lost() {
        is_lost_ = true;
        is_full_ = false;
        return {ErrorCode::StoreFailed,
                fmt::format("{}: {}", place(), one_line(pq_.error_message(connection_)))};
    }
    Error late() {
        is_lost_ = true;
        is_full_ = false;
        return {ErrorCode::StoreFailed,
                fmt::format("{}: no answer within {} seconds", place(), target_.timeout.count())};
    }

    // False: the time is over.
    bool wait_for(short events, Clock::time_point deadline) const {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd socket{pq_.socket(connection_), events, 0};
        return poll(&socket, 1, static_cast<int>(left)) != 0;
    }

    // What a connection string may not change.
    Result<void> set_up_session() {
        if (!target_.connection.empty()) {
            TRY(command(fmt::format("SET statement_timeout = {}; "
                                    "SET client_min_messages = warning; "
                                    "SET default_transaction_isolation = 'read committed'; "
                                    "SELECT set_config('synchronous_commit', 'on', false) "
                                    "WHERE current_setting('synchronous_commit') "
                                    "IN ('off', 'local')",
                                    target_.timeout.count() * 1000)
                            .c_str()));
        }
        if (target_.schema.empty()) return {};
        Result<void> made = make_schema();
        if (!made && !is_lost_) made = make_schema();  // another connection may have been faster
        TRY(std::move(made));
        return command(fmt::format("SET search_path = {}", quoted_name(target_.schema)).c_str());
    }
    Result<void> make_schema() {
        bool exists = false;
        TRY(query("SELECT 1 FROM pg_namespace WHERE nspname = ?", {target_.schema},
                  [&](const RowView&) -> Result<void> {
                      exists = true;
                      return {};
                  }));
        if (exists) return {};
        return command(fmt::format("CREATE SCHEMA {}", quoted_name(target_.schema)).c_str());
    }
    // Sends what is not sent yet.
    Result<void> flush(Clock::time_point deadline) {
        while (true) {
            const int left = pq_.flush(connection_);
            if (left == 0) return {};
            if (left < 0) return lost();
            if (!wait_for(POLLIN | POLLOUT, deadline)) return late();
            if (pq_.consume_input(connection_) == 0) return lost();
        }
    }

    // The last result of what was sent. The server has a little time to report its own timeout.
    Result<Answer> wait() {
        const auto deadline = Clock::now() + target_.timeout + std::chrono::seconds(1);
        Answer last(pq_, nullptr);
        TRY(flush(deadline));
        while (true) {
            while (pq_.is_busy(connection_)) {
                if (!wait_for(POLLIN, deadline)) return late();
                if (pq_.consume_input(connection_) == 0) return lost();
            }
            PGresult* next = pq_.get_result(connection_);
            if (!next) break;
            last = Answer(pq_, next);
        }
        if (!last.get()) return lost();
        return last;
    }

    Result<void> command(const char* statement) {
        if (!connection_ || pq_.send_query(connection_, statement) == 0) return lost();
        const Answer answer = TRY(wait());
        if (!answer.succeeded()) return refused(answer);
        return {};
    }

    Result<std::string> prepare(std::string_view statement) {
        const auto found = prepared_.find(std::string(statement));
        if (found != prepared_.end()) return found->second;
        if (prepared_.size() >= kPreparedMost) {
            TRY(command("DEALLOCATE ALL"));
            prepared_.clear();
        }
        const std::string name = fmt::format("s{}", ++statements_);
        const std::string text = numbered_placeholders(statement);
        if (!connection_ ||
            pq_.send_prepare(connection_, name.c_str(), text.c_str(), 0, nullptr) == 0)
            return lost();
        const Answer answer = TRY(wait());
        if (!answer.succeeded()) return refused(answer);
        prepared_.emplace(statement, name);
        return name;
    }

    Result<Answer> execute(std::string_view statement, const Row& values) {
        if (has_zero_byte(values)) {
            return Error{ErrorCode::BadArgument, "a text with a zero byte cannot be stored"};
        }
        const std::string name = TRY(prepare(statement));
        const Parameters parameters(values);
        if (pq_.send_query_prepared(connection_, name.c_str(), parameters.count(),
                                    parameters.values(), parameters.lengths(), parameters.formats(),
                                    0) == 0)
            return lost();
        Answer answer = TRY(wait());
        if (!answer.succeeded()) return refused(answer);
        return answer;
    }

    const Libpq& pq_;
    Target target_;
    PGconn* connection_ = nullptr;
    bool is_lost_ = false;
    bool is_full_ = false;
    std::uint64_t statements_ = 0;
    std::unordered_map<std::string, std::string> prepared_;  // text, name
};

}  // namespace

Result<void> check_connection_string(const std::string& connection) {
    if (!libpq()) return libpq().error();
    char* why = nullptr;
    PQconninfoOption* parsed = libpq()->parse(connection.c_str(), &why);
    libpq()->free_parsed(parsed);
    if (parsed) return {};
    Error error{ErrorCode::BadArgument, why ? one_line(why) : "out of memory"};
    libpq()->free_memory(why);
    return error;
}

Result<std::unique_ptr<Database>> open_postgresql(const Target& target) {
    if (!libpq()) return libpq().error();
    auto database = std::make_unique<PostgresqlDatabase>(*libpq(), target);
    TRY(database->reconnect());
    return std::unique_ptr<Database>(std::move(database));
}

}  // namespace sluice::sql
