// surface/arguments.h
//
// Command lines and directives cut into options and operands by getopt_long, whose abbreviations
// and permutation are what people type. Nothing is printed: errors carry getopt's own words.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace sluice {

enum class Argument : unsigned char { None, Required, Optional };

struct OptionSpelling {
    const char* name;  // long one; underscores are taken for dashes by getopt's caller
    char letter = 0;   // 0: none
    Argument argument = Argument::None;
    std::size_t id = 0;  // what the caller knows it by
};

struct GivenOption {
    std::size_t id = 0;
    std::optional<std::string> value;
};

struct Arguments {
    std::vector<GivenOption> options;  // in the order given
    std::vector<std::string> operands;
    // Words such as -ntasks=2, which is -n with the value "tasks=2".
    std::vector<std::string> hints;
};

// Where options may stand: before the first operand only (the rest belongs to a program that the
// user wants run), or anywhere.
enum class OptionsEnd : unsigned char { AtFirstOperand, Nowhere };

// An error's detail is what follows "sbatch: ": "unrecognized option '--foo'"; its code is
// NotFound. Its hint names the option that was meant, if that can be guessed.
Result<Arguments> parse_arguments(const std::vector<std::string>& args,
                                  std::span<const OptionSpelling> spellings, OptionsEnd end);

}  // namespace sluice
