// stepd/pmi_wire.h
//
// The commands of PMI-1 and PMI-2, as MPI libraries write them to the descriptor PMI_FD:
// "cmd=get key=k\n", and "    26cmd=kvs-get;key=k;" with the length of what follows. A connection
// begins with PMI-1; the answer to "init" says which of them the rest uses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class PmiDialect { One, Two };

constexpr std::size_t kPmiCommandMax = 64u << 10;  // bytes

struct PmiCommand {
    using Fields = std::vector<std::pair<std::string, std::string>>;
    std::string name;
    Fields fields;
    std::optional<std::string> find(std::string_view field) const;
    bool operator==(const PmiCommand&) const = default;
};

std::string print_pmi(PmiDialect dialect, const PmiCommand& command);

// The commands in what a task has written. After an error nothing more can be read from it.
class PmiReader {
public:
    void feed(std::string_view bytes) { text_.append(bytes); }
    Result<std::optional<PmiCommand>> next();
    void set_dialect(PmiDialect dialect) { dialect_ = dialect; }
    PmiDialect dialect() const { return dialect_; }

private:
    Result<std::optional<PmiCommand>> next_one();
    Result<std::optional<PmiCommand>> next_two();

    PmiDialect dialect_ = PmiDialect::One;
    std::string text_;
};

}  // namespace sluice
