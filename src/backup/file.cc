// backup/file.cc
#include "backup/file.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/check.h"
#include "model/errors.h"
#include "os/files.h"

namespace sluice::backup {

namespace {

constexpr std::string_view kFirstLine = "sluice-backup 1\n";
constexpr std::size_t kRecordMost = std::size_t{1} << 30;
enum Kind : char { FactsKind = 'F', TableKind = 'T', RowKind = 'R', EndKind = 'E' };
enum Tag : char { NullTag, NumberTag, RealTag, TextTag, BytesTag };

void put_number(std::string& out, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, text.size(), 4);
    out += text;
}

void put_value(std::string& out, const sql::Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        out += NumberTag;
        put_number(out, static_cast<std::uint64_t>(*number), 8);
    } else if (const auto* real = std::get_if<double>(&value)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, real, sizeof bits);
        out += RealTag;
        put_number(out, bits, 8);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        out += TextTag;
        put_text(out, *text);
    } else if (const auto* bytes = std::get_if<sql::Bytes>(&value)) {
        out += BytesTag;
        put_text(out, bytes->value);
    } else {
        out += NullTag;
    }
}

// Takes values from the front; nothing: there are too few bytes.
class Parser {
public:
    explicit Parser(std::string_view left) : left_(left) {}
    bool at_end() const { return left_.empty(); }
    std::optional<std::uint64_t> number(std::size_t size) {
        if (left_.size() < size) return std::nullopt;
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(left_[i])} << (8 * i);
        left_.remove_prefix(size);
        return value;
    }
    std::optional<std::string> text() {
        const auto size = number(4);
        if (!size || left_.size() < *size) return std::nullopt;
        std::string text(left_.substr(0, *size));
        left_.remove_prefix(*size);
        return text;
    }
    std::optional<sql::Value> value() {
        const auto tag = number(1);
        if (!tag) return std::nullopt;
        if (*tag == NullTag) return sql::Value(sql::Null());
        if (*tag == NumberTag || *tag == RealTag) {
            const auto bits = number(8);
            if (!bits) return std::nullopt;
            if (*tag == NumberTag) return sql::Value(static_cast<std::int64_t>(*bits));
            double real = 0;
            std::memcpy(&real, &*bits, sizeof real);
            return sql::Value(real);
        }
        if (*tag != TextTag && *tag != BytesTag) return std::nullopt;
        auto content = text();
        if (!content) return std::nullopt;
        if (*tag == TextTag) return sql::Value(*std::move(content));
        return sql::Value(sql::Bytes{*std::move(content)});
    }

private:
    std::string_view left_;
};

std::optional<std::vector<std::string>> parse_texts(std::string_view content) {
    Parser parser(content);
    std::vector<std::string> texts;
    while (!parser.at_end()) {
        auto text = parser.text();
        if (!text) return std::nullopt;
        texts.push_back(*std::move(text));
    }
    return texts;
}

std::optional<Record> parse(char kind, std::string_view content) {
    if (kind == RowKind) {
        Parser parser(content);
        sql::Row row;
        while (!parser.at_end()) {
            auto value = parser.value();
            if (!value) return std::nullopt;
            row.push_back(*std::move(value));
        }
        return row;
    }
    auto texts = parse_texts(content);
    if (!texts) return std::nullopt;
    if (kind == FactsKind && texts->size() % 2 == 0) {
        Facts facts;
        for (std::size_t i = 0; i < texts->size(); i += 2) facts[(*texts)[i]] = (*texts)[i + 1];
        return facts;
    }
    if (kind != TableKind || texts->size() < 3) return std::nullopt;
    return TableStart{(*texts)[0], (*texts)[1], {texts->begin() + 2, texts->end()}};
}

Error failed(const std::string& path) {
    return {ErrorCode::SystemError, fmt::format("{}: {}", path, strerror(errno))};
}

}  // namespace

void Checksum::Free::operator()(evp_md_ctx_st* context) const {
    EVP_MD_CTX_free(context);
}

Checksum::Checksum() : context_(EVP_MD_CTX_new()) {
    CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Checksum::add(std::string_view bytes) {
    CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Checksum::take() {
    std::string sum(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    CHECK(EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(sum.data()), &size) ==
          1);
    sum.resize(size);
    return sum;
}

// It has scripts, environments and the key of launch credentials: only its owner may read it.
Result<BackupWriter> BackupWriter::create(const std::string& path) {
    const std::string fresh = path + ".new";
    unlink(fresh.c_str());
    const mode_t before = umask(0077);
    File file(std::fopen(fresh.c_str(), "wxe"));
    umask(before);
    if (!file) return failed(fresh);
    BackupWriter writer(path, std::move(file));
    TRY(writer.write(kFirstLine));
    return writer;
}

BackupWriter::~BackupWriter() {
    if (file_ && !is_done_) unlink(fresh().c_str());
}

Result<void> BackupWriter::write(std::string_view bytes) {
    checksum_.add(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
        return failed(fresh());
    return {};
}

Result<void> BackupWriter::record(char kind, std::string_view content) {
    if (content.size() > kRecordMost)
        return Error{ErrorCode::SystemError, "a row is too large for a backup"};
    std::string head;
    put_number(head, content.size(), 4);
    head += kind;
    TRY(write(head));
    return write(content);
}

Result<void> BackupWriter::facts(const Facts& facts) {
    std::string content;
    for (const auto& [name, value] : facts) {
        put_text(content, name);
        put_text(content, value);
    }
    return record(FactsKind, content);
}

Result<void> BackupWriter::table(const TableStart& table) {
    std::string content;
    put_text(content, table.database);
    put_text(content, table.name);
    for (const std::string& column : table.columns) put_text(content, column);
    return record(TableKind, content);
}

Result<void> BackupWriter::row(const sql::Row& row) {
    std::string content;
    for (const sql::Value& value : row) put_value(content, value);
    ++rows_;
    return record(RowKind, content);
}

Result<void> BackupWriter::finish() {
    std::string head;
    put_number(head, 32, 4);
    head += EndKind;
    TRY(write(head));
    TRY(write(checksum_.take()));
    if (std::fflush(file_.get()) != 0 || fsync(fileno(file_.get())) != 0) return failed(fresh());
    if (rename(fresh().c_str(), path_.c_str()) != 0) return failed(path_);
    is_done_ = true;
    const File directory(std::fopen(directory_of(path_).c_str(), "re"));
    if (!directory || fsync(fileno(directory.get())) != 0) return failed(directory_of(path_));
    return {};
}

Error BackupReader::damaged(std::string_view why) const {
    return {ErrorCode::BadArgument, fmt::format("{}: the backup is damaged: {}", path_, why)};
}

Result<BackupReader> BackupReader::open(const std::string& path) {
    File file(std::fopen(path.c_str(), "re"));
    if (!file) return failed(path);
    BackupReader reader(path, std::move(file));
    const Result<std::string> first = reader.read(kFirstLine.size());
    if (first && *first == kFirstLine) return reader;
    if (first && first->starts_with("sluice-backup "))
        return Error{ErrorCode::BadArgument,
                     fmt::format("{}: written by a newer version: upgrade this program", path)};
    return Error{ErrorCode::BadArgument, fmt::format("{}: this is no backup of Sluice", path)};
}

Result<std::string> BackupReader::read(std::size_t size) {
    std::string bytes(size, '\0');
    if (std::fread(bytes.data(), 1, size, file_.get()) != size) return damaged("it is cut off");
    checksum_.add(bytes);
    return bytes;
}

Result<Record> BackupReader::next() {
    constexpr std::size_t kHead = 5;
    const std::string head = TRY(read(kHead));
    const auto size = static_cast<std::size_t>(*Parser(head).number(4));
    if (size > kRecordMost) return damaged("the length of a record is wrong");
    if (head.back() == EndKind) {
        const std::string sum = checksum_.take();
        checksum_ = Checksum();
        if (size != sum.size() || TRY(read(size)) != sum) return damaged("its checksum is wrong");
        if (std::fgetc(file_.get()) != EOF) return damaged("bytes follow its end");
        return Record(End());
    }
    auto record = parse(head.back(), TRY(read(size)));
    if (!record) return damaged("a record cannot be read");
    return *std::move(record);
}

}  // namespace sluice::backup
