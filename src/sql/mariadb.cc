// sql/mariadb.cc
//
// The MariaDB engine of database.h, by libmariadb. Rows come through prepared statements with bound
// columns. A database that does not exist is created, as sites that come from Slurm expect.
#include <errmsg.h>
#include <fmt/format.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <charconv>
#include <cstring>
#include <unordered_map>

#include "base/text.h"
#include "sql/drivers.h"

namespace sluice::sql {

namespace {

constexpr Dialect kMariadbDialect{.engine = Engine::Mariadb,
                                  .bytes_type = "LONGBLOB",
                                  .key_text_type = "VARBINARY(1024)",
                                  .auto_id = "BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY"};

struct Libmariadb {
    decltype(&mysql_init) init = nullptr;
    decltype(&mysql_close) close = nullptr;
    decltype(&mysql_optionsv) options = nullptr;
    decltype(&mysql_real_connect) real_connect = nullptr;
    decltype(&mysql_real_query) real_query = nullptr;
    decltype(&mysql_errno) error_number = nullptr;
    decltype(&mysql_error) error = nullptr;
    decltype(&mysql_stmt_init) stmt_init = nullptr;
    decltype(&mysql_stmt_close) stmt_close = nullptr;
    decltype(&mysql_stmt_prepare) stmt_prepare = nullptr;
    decltype(&mysql_stmt_attr_set) stmt_attr_set = nullptr;
    decltype(&mysql_stmt_param_count) stmt_param_count = nullptr;
    decltype(&mysql_stmt_bind_param) stmt_bind_param = nullptr;
    decltype(&mysql_stmt_execute) stmt_execute = nullptr;
    decltype(&mysql_stmt_affected_rows) stmt_affected_rows = nullptr;
    decltype(&mysql_stmt_store_result) stmt_store_result = nullptr;
    decltype(&mysql_stmt_result_metadata) stmt_result_metadata = nullptr;
    decltype(&mysql_stmt_bind_result) stmt_bind_result = nullptr;
    decltype(&mysql_stmt_fetch) stmt_fetch = nullptr;
    decltype(&mysql_stmt_free_result) stmt_free_result = nullptr;
    decltype(&mysql_stmt_errno) stmt_error_number = nullptr;
    decltype(&mysql_stmt_error) stmt_error = nullptr;
    decltype(&mysql_num_fields) num_fields = nullptr;
    decltype(&mysql_fetch_field_direct) field = nullptr;
    decltype(&mysql_free_result) free_result = nullptr;
};

Result<Libmariadb> load_libmariadb() {
    void* from = TRY(load_library("libmariadb.so.3", "libmariadb3"));
    Libmariadb my;
    TRY(find_function(from, "mysql_init", my.init));
    TRY(find_function(from, "mysql_close", my.close));
    TRY(find_function(from, "mysql_optionsv", my.options));
    TRY(find_function(from, "mysql_real_connect", my.real_connect));
    TRY(find_function(from, "mysql_real_query", my.real_query));
    TRY(find_function(from, "mysql_errno", my.error_number));
    TRY(find_function(from, "mysql_error", my.error));
    TRY(find_function(from, "mysql_stmt_init", my.stmt_init));
    TRY(find_function(from, "mysql_stmt_close", my.stmt_close));
    TRY(find_function(from, "mysql_stmt_prepare", my.stmt_prepare));
    TRY(find_function(from, "mysql_stmt_attr_set", my.stmt_attr_set));
    TRY(find_function(from, "mysql_stmt_param_count", my.stmt_param_count));
    TRY(find_function(from, "mysql_stmt_bind_param", my.stmt_bind_param));
    TRY(find_function(from, "mysql_stmt_execute", my.stmt_execute));
    TRY(find_function(from, "mysql_stmt_affected_rows", my.stmt_affected_rows));
    TRY(find_function(from, "mysql_stmt_store_result", my.stmt_store_result));
    TRY(find_function(from, "mysql_stmt_result_metadata", my.stmt_result_metadata));
    TRY(find_function(from, "mysql_stmt_bind_result", my.stmt_bind_result));
    TRY(find_function(from, "mysql_stmt_fetch", my.stmt_fetch));
    TRY(find_function(from, "mysql_stmt_free_result", my.stmt_free_result));
    TRY(find_function(from, "mysql_stmt_errno", my.stmt_error_number));
    TRY(find_function(from, "mysql_stmt_error", my.stmt_error));
    TRY(find_function(from, "mysql_num_fields", my.num_fields));
    TRY(find_function(from, "mysql_fetch_field_direct", my.field));
    TRY(find_function(from, "mysql_free_result", my.free_result));
    return my;
}

const Result<Libmariadb>& libmariadb() {
    static const Result<Libmariadb> loaded = load_libmariadb();
    return loaded;
}

bool is_connection_error(unsigned code) {
    switch (code) {
        case CR_SERVER_GONE_ERROR:
        case CR_SERVER_LOST:
        case CR_CONNECTION_ERROR:
        case CR_CONN_HOST_ERROR:
        case ER_CONNECTION_KILLED:
        case ER_SERVER_SHUTDOWN:
            return true;
        default:
            return false;
    }
}

// One column of an answer, and its value in the current row.
struct Column {
    enum class Kind { Number, Real, Text } kind = Kind::Text;
    std::int64_t number = 0;
    double real = 0;
    std::string text;
    unsigned long length = 0;
    my_bool is_null = 0;
};

Column::Kind kind_of(enum_field_types type) {
    switch (type) {
        case MYSQL_TYPE_TINY:
        case MYSQL_TYPE_SHORT:
        case MYSQL_TYPE_INT24:
        case MYSQL_TYPE_LONG:
        case MYSQL_TYPE_LONGLONG:
            return Column::Kind::Number;
        case MYSQL_TYPE_FLOAT:
        case MYSQL_TYPE_DOUBLE:
            return Column::Kind::Real;
        default:
            return Column::Kind::Text;  // also DECIMAL, the type of sums
    }
}

class MariadbRow : public RowView {
public:
    explicit MariadbRow(const std::vector<Column>& columns) : columns_(columns) {}
    bool is_null(int column) const override { return at(column).is_null != 0; }
    std::int64_t number(int column) const override { return value<std::int64_t>(column); }
    double real(int column) const override { return value<double>(column); }
    std::string_view text(int column) const override {
        const Column& each = at(column);
        if (each.is_null) return {};
        return std::string_view(each.text).substr(0, each.length);
    }

private:
    const Column& at(int column) const { return columns_[static_cast<std::size_t>(column)]; }
    template <typename Number>
    Number value(int column) const {
        const Column& each = at(column);
        if (each.is_null) return {};
        if (each.kind == Column::Kind::Number) return static_cast<Number>(each.number);
        if (each.kind == Column::Kind::Real) return static_cast<Number>(each.real);
        const std::string_view printed = text(column);
        Number parsed{};
        std::from_chars(printed.data(), printed.data() + printed.size(), parsed);
        return parsed;
    }
    const std::vector<Column>& columns_;
};

MYSQL_BIND bind_of(const Value& value) {
    MYSQL_BIND bind{};
    const auto point_to = [&](enum_field_types type, const void* data, std::size_t size) {
        bind.buffer_type = type;
        bind.buffer = const_cast<void*>(data);
        bind.buffer_length = static_cast<unsigned long>(size);
    };
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        point_to(MYSQL_TYPE_LONGLONG, number, sizeof *number);
    } else if (const auto* real = std::get_if<double>(&value)) {
        point_to(MYSQL_TYPE_DOUBLE, real, sizeof *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        point_to(MYSQL_TYPE_STRING, text->data(), text->size());
    } else if (const auto* bytes = std::get_if<Bytes>(&value)) {
        point_to(MYSQL_TYPE_LONG_BLOB, bytes->value.data(), bytes->value.size());
    } else {
        bind.buffer_type = MYSQL_TYPE_NULL;
    }
    return bind;
}

class MariadbDatabase : public Database {
public:
    MariadbDatabase(const Libmariadb& my, Target target) : my_(my), target_(std::move(target)) {}
    ~MariadbDatabase() override { disconnect(); }

    const Dialect& dialect() const override { return kMariadbDialect; }
    bool is_lost() const override { return is_lost_; }

    Result<void> reconnect() override {
        disconnect();
        is_lost_ = true;
        std::vector<std::string> hosts = target_.hosts;
        if (hosts.empty()) hosts.emplace_back("localhost");
        std::optional<Error> last;
        for (const std::string& host : hosts) {
            const Result<void> connected = connect(host);
            if (connected) {
                is_lost_ = false;
                return {};
            }
            last = connected.error();
            disconnect();
        }
        return *last;
    }

    Result<std::uint64_t> run(std::string_view statement, const Row& values) override {
        MYSQL_STMT* prepared = TRY(execute(statement, values));
        const auto changed = my_.stmt_affected_rows(prepared);
        my_.stmt_free_result(prepared);
        return changed == ~my_ulonglong{0} ? std::uint64_t{0} : std::uint64_t{changed};
    }

    Result<void> query(std::string_view statement, const Row& values,
                       const std::function<Result<void>(const RowView&)>& each) override {
        MYSQL_STMT* prepared = TRY(execute(statement, values));
        const Result<void> done = read_rows(prepared, each);
        my_.stmt_free_result(prepared);
        return done;
    }

    Result<void> begin() override { return command("START TRANSACTION"); }
    Result<void> commit() override { return command("COMMIT"); }
    void rollback() override {
        if (!is_lost_) (void)command("ROLLBACK");
    }

private:
    void disconnect() {
        for (const auto& [text, statement] : prepared_) my_.stmt_close(statement);
        prepared_.clear();
        if (connection_) my_.close(std::exchange(connection_, nullptr));
    }

    std::string place() const {
        return fmt::format("MariaDB database {} of {} as {}", target_.name, host_, target_.user);
    }
    Error failed(unsigned code, const char* why) {
        if (is_connection_error(code)) is_lost_ = true;
        return {ErrorCode::StoreFailed, fmt::format("{}: {} ({})", place(), why, code)};
    }
    Error failed() { return failed(my_.error_number(connection_), my_.error(connection_)); }
    Error failed(MYSQL_STMT* statement) {
        return failed(my_.stmt_error_number(statement), my_.stmt_error(statement));
    }

    void set_text(mysql_option option, const std::string& value) {
        if (!value.empty()) my_.options(connection_, option, value.c_str());
    }

    void set_options() {
        // The server has a little time to report its own timeout.
        const auto seconds = static_cast<unsigned>(target_.timeout.count());
        const unsigned longer = seconds + 1;
        my_.options(connection_, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
        my_.options(connection_, MYSQL_OPT_READ_TIMEOUT, &longer);
        my_.options(connection_, MYSQL_OPT_WRITE_TIMEOUT, &longer);
        my_.options(connection_, MYSQL_SET_CHARSET_NAME, "utf8mb4");
        set_text(MYSQL_OPT_SSL_CA, target_.ssl_ca);
        set_text(MYSQL_OPT_SSL_CAPATH, target_.ssl_ca_path);
        set_text(MYSQL_OPT_SSL_CERT, target_.ssl_cert);
        set_text(MYSQL_OPT_SSL_KEY, target_.ssl_key);
        set_text(MYSQL_OPT_SSL_CIPHER, target_.ssl_cipher);
        const my_bool has_ca = !target_.ssl_ca.empty() || !target_.ssl_ca_path.empty();
        const my_bool has_tls = has_ca || !target_.ssl_cert.empty() || !target_.ssl_cipher.empty();
        if (has_tls) my_.options(connection_, MYSQL_OPT_SSL_ENFORCE, &has_tls);
        if (has_ca) my_.options(connection_, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &has_ca);
    }

    bool try_connect(const std::string& database) {
        const bool is_socket = host_.starts_with('/');
        connection_ = my_.init(nullptr);
        set_options();
        return my_.real_connect(connection_, is_socket ? nullptr : host_.c_str(),
                                target_.user.c_str(), target_.password.c_str(),
                                database.empty() ? nullptr : database.c_str(), target_.port,
                                is_socket ? host_.c_str() : nullptr, CLIENT_FOUND_ROWS) != nullptr;
    }

    Result<void> connect(const std::string& host) {
        host_ = host;
        if (!try_connect(target_.name)) {
            if (my_.error_number(connection_) != ER_BAD_DB_ERROR) return failed();
            disconnect();
            TRY(create_database());
        }
        TRY(command("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"));
        TRY(command("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"));
        return command(fmt::format(
            "SET SESSION max_statement_time = {}, innodb_lock_wait_timeout "
            "= {}",
            target_.timeout.count(), std::max<std::int64_t>(target_.timeout.count(), 1)));
    }

    Result<void> create_database() {
        if (!try_connect("")) return failed();
        std::string quoted;
        for (const char c : target_.name)
            quoted += c == '`' ? std::string("``") : std::string(1, c);
        TRY(command(
            fmt::format("CREATE DATABASE IF NOT EXISTS `{}` CHARACTER SET utf8mb4", quoted)));
        return command(fmt::format("USE `{}`", quoted));
    }

    Result<void> command(std::string_view statement) {
        if (!connection_) return failed(CR_SERVER_GONE_ERROR, "there is no connection");
        if (my_.real_query(connection_, statement.data(),
                           static_cast<unsigned long>(statement.size())) != 0)
            return failed();
        return {};
    }

    Result<MYSQL_STMT*> prepare(std::string_view statement) {
        if (!connection_) return failed(CR_SERVER_GONE_ERROR, "there is no connection");
        const auto found = prepared_.find(std::string(statement));
        if (found != prepared_.end()) return found->second;
        if (prepared_.size() >= kPreparedMost) {
            for (const auto& [text, old] : prepared_) my_.stmt_close(old);
            prepared_.clear();
        }
        MYSQL_STMT* made = my_.stmt_init(connection_);
        if (!made) return failed();
        if (my_.stmt_prepare(made, statement.data(),
                             static_cast<unsigned long>(statement.size())) != 0) {
            const Error error = failed(made);
            my_.stmt_close(made);
            return error;
        }
        const my_bool yes = 1;
        my_.stmt_attr_set(made, STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
        prepared_.emplace(statement, made);
        return made;
    }

    Result<MYSQL_STMT*> execute(std::string_view statement, const Row& values) {
        MYSQL_STMT* prepared = TRY(prepare(statement));
        if (my_.stmt_param_count(prepared) != values.size()) {
            return Error{ErrorCode::BadArgument,
                         fmt::format("{} values for: {}", values.size(), statement)};
        }
        std::vector<MYSQL_BIND> binds;
        for (const Value& value : values) binds.push_back(bind_of(value));
        if (!binds.empty() && my_.stmt_bind_param(prepared, binds.data()) != 0)
            return failed(prepared);
        if (my_.stmt_execute(prepared) != 0) return failed(prepared);
        return prepared;
    }

    Result<void> read_rows(MYSQL_STMT* prepared,
                           const std::function<Result<void>(const RowView&)>& each) {
        if (my_.stmt_store_result(prepared) != 0) return failed(prepared);
        const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> fields(
            my_.stmt_result_metadata(prepared), my_.free_result);
        if (!fields) return failed(prepared);
        std::vector<Column> columns(my_.num_fields(fields.get()));
        std::vector<MYSQL_BIND> binds(columns.size());
        for (unsigned i = 0; i < columns.size(); ++i) {
            bind_column(*my_.field(fields.get(), i), columns[i], binds[i]);
        }
        if (my_.stmt_bind_result(prepared, binds.data()) != 0) return failed(prepared);
        const MariadbRow row(columns);
        while (true) {
            const int fetched = my_.stmt_fetch(prepared);
            if (fetched == MYSQL_NO_DATA) return {};
            if (fetched != 0) return failed(prepared);
            TRY(each(row));
        }
    }

    // A text has room for the longest one of the answer.
    static void bind_column(const MYSQL_FIELD& field, Column& column, MYSQL_BIND& bind) {
        column.kind = kind_of(field.type);
        bind.is_null = &column.is_null;
        bind.length = &column.length;
        if (column.kind == Column::Kind::Number) {
            bind.buffer_type = MYSQL_TYPE_LONGLONG;
            bind.buffer = &column.number;
        } else if (column.kind == Column::Kind::Real) {
            bind.buffer_type = MYSQL_TYPE_DOUBLE;
            bind.buffer = &column.real;
        } else {
            column.text.resize(std::max<std::size_t>(field.max_length, 64));
            bind.buffer_type = MYSQL_TYPE_STRING;
            bind.buffer = column.text.data();
            bind.buffer_length = static_cast<unsigned long>(column.text.size());
        }
    }

    const Libmariadb& my_;
    Target target_;
    std::string host_;  // of the connection
    MYSQL* connection_ = nullptr;
    bool is_lost_ = false;
    std::unordered_map<std::string, MYSQL_STMT*> prepared_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_mariadb(const Target& target) {
    if (!libmariadb()) return libmariadb().error();
    auto database = std::make_unique<MariadbDatabase>(*libmariadb(), target);
    TRY(database->reconnect());
    return std::unique_ptr<Database>(std::move(database));
}

}  // namespace sluice::sql
