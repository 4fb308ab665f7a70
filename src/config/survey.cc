// See survey.h.
//
// The lines are put into one text without Include, which is parsed. The error names a line; it is
// noted, the key is left out, and the rest is parsed again. The notes of the last parse, which has
// no error, tell about the other keys.
#include "config/survey.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text.h"
#include "config/key_help.h"
#include "config/lines.h"

namespace sluice {

namespace {

constexpr std::string_view kName = "slurm.conf";
// Of a key without effect whose value asks for nothing else.
constexpr std::string_view kAsHere = "Sluice always does what the value says";

struct FlatSetting {
    std::string key, value;
    std::string problem = {};  // why it is refused
};
struct FlatLine {
    std::string where;  // in the files of the site
    std::vector<FlatSetting> settings;
};

std::string text_of(const FlatLine& line) {
    std::string text;
    for (const auto& [key, value, problem] : line.settings) {
        if (!problem.empty()) continue;
        const bool is_plain = value.find_first_of(" \t#\"") == std::string::npos;
        text += fmt::format("{}={}{}{} ", key, is_plain ? "" : "\"", value, is_plain ? "" : "\"");
    }
    return text;
}

Result<std::vector<FlatLine>> read_lines(const std::string& path) {
    std::vector<FlatLine> lines;
    const std::string text = TRY(read_text_file(path));
    TRY(for_each_line(text, path, read_text_file, [&](const Line& line) -> Result<void> {
        FlatLine& flat = lines.emplace_back();
        flat.where = fmt::format("{} line {}", line.file, line.number);
        for (const Setting& setting : line.settings)
            flat.settings.push_back({std::string(setting.key), std::string(setting.value)});
        return {};
    }));
    return lines;
}

// "slurm.conf line 12: text" of the flat text: 12 and the text.
struct Note {
    std::size_t line = 0;  // from 1; 0: of no line
    std::string text;
};
Note note_in(const std::string& message) {
    const std::string start = fmt::format("{} line ", kName);
    const std::size_t colon = message.find(": ");
    if (colon == std::string::npos) return {0, message};
    if (!message.starts_with(start)) {
        const bool is_of_file = message.substr(0, colon) == kName;
        return {0, is_of_file ? message.substr(colon + 2) : message};
    }
    const auto number = to_number(message.substr(start.size(), colon - start.size()));
    return {static_cast<std::size_t>(number.value_or(0)), message.substr(colon + 2)};
}

// Whether the key is a word of the text, in any case of letters.
bool names(std::string_view message, std::string_view wanted) {
    const std::string text = to_lower(message), key = to_lower(wanted);
    const auto is_part = [&](std::size_t at) {
        return at < text.size() && isalnum(static_cast<unsigned char>(text[at]));
    };
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
        if (!is_part(at + key.size()) && (at == 0 || !is_part(at - 1))) return true;
    }
    return false;
}

// Notes a problem with the keys that the note names, or else with the whole line. Returns whether
// there is something to leave out.
bool note_problem(FlatLine& line, const std::string& text) {
    bool is_noted = false;
    const std::size_t first = line.settings.size() > 1 ? 1 : 0;  // NodeName= begins the line
    for (std::size_t i = first; i < line.settings.size(); ++i) {
        FlatSetting& setting = line.settings[i];
        if (!setting.problem.empty() || !names(text, setting.key)) continue;
        setting.problem = text;
        is_noted = true;
    }
    if (is_noted) return true;
    for (FlatSetting& setting : line.settings) {
        if (!setting.problem.empty()) continue;
        setting.problem = text;
        is_noted = true;
    }
    return is_noted;
}

bool note_problem(std::vector<FlatLine>& lines, const Note& note) {
    if (note.line > 0 && note.line <= lines.size())
        return note_problem(lines[note.line - 1], note.text);
    for (FlatLine& line : lines) {
        const bool is_meant = line.settings.size() == 1 && line.settings[0].problem.empty() &&
                              names(note.text, line.settings[0].key);
        if (is_meant) return note_problem(line, note.text);
    }
    return false;
}

struct Parsed {
    Config config;
    std::vector<std::string> others;
};

// Leaves out what is refused, line by line.
Parsed parse_what_can_be(std::vector<FlatLine>& lines) {
    Parsed parsed;
    while (true) {
        std::string text;
        for (const FlatLine& line : lines) text += text_of(line) + "\n";
        Result<Config> config = parse_config(text, std::string(kName));
        if (config) {
            parsed.config = *std::move(config);
            return parsed;
        }
        const Note note = note_in(config.error().detail);
        if (note_problem(lines, note)) continue;
        parsed.others.push_back(note.text);
        return parsed;
    }
}

constexpr struct {
    std::string_view first_key;
    KeyTable table;
} kTables[] = {
    {"NodeName", KeyTable::NodeName},
    {"NodeSet", KeyTable::NodeSet},
    {"DownNodes", KeyTable::DownNodes},
    {"PartitionName", KeyTable::PartitionName},
};

// Looks keys up in the tables, and collects what is known of them.
class Surveyor {
public:
    Survey take() { return std::move(survey_); }

    void add_line(const FlatLine& line) {
        if (line.settings.empty()) return;
        KeyTable table = KeyTable::SlurmConf;
        std::string first;
        for (const auto& row : kTables) {
            if (!equals_ignoring_case(row.first_key, line.settings[0].key)) continue;
            table = row.table;
            first = row.first_key;
        }
        for (const FlatSetting& setting : line.settings) add_key(line, table, first, setting);
    }
    // A note about a line names the key, or the whole line is meant.
    void add_note(const std::string& where, const std::string& text, KeyFate fate) {
        bool is_noted = false;
        for (SurveyedKey& key : survey_.keys) {
            const bool is_here = where.empty() || key.where == where;
            if (!is_here || !names(text, key.key)) continue;
            note(key, text, fate);
            is_noted = true;
        }
        if (!is_noted) survey_.others.push_back({where.empty() ? text : where + ": " + text, fate});
    }
    void add_refusal(std::string text) {
        survey_.others.push_back({std::move(text), KeyFate::Refused});
    }

private:
    static void note(SurveyedKey& key, const std::string& text, KeyFate fate) {
        const std::string all = fmt::format("{}={} has no effect", key.key, key.value);
        if (key.why == kAsHere) key.why.clear();
        key.fate = std::max({key.fate, fate, text.starts_with(all) ? KeyFate::Idle : fate});
        if (!key.why.empty()) key.why += "; ";
        key.why += text;
    }
    void add_key(const FlatLine& line, KeyTable table, const std::string& first,
                 const FlatSetting& setting) {
        const KeyRow* row = find_row(table, setting.key);
        SurveyedKey found{.table = first,
                          .key = row ? std::string(row->name) : setting.key,
                          .value = setting.value,
                          .where = line.where};
        const auto known =
            std::find_if(survey_.keys.begin(), survey_.keys.end(), [&](const SurveyedKey& each) {
                return !first.empty() && each.table == first && each.key == found.key;
            });
        if (!setting.problem.empty()) {
            note(found, setting.problem, KeyFate::Refused);
        } else if (row && !row->has_effect && found.key != first) {
            note(found, std::string(kAsHere), KeyFate::Idle);
        }
        if (known == survey_.keys.end()) {
            survey_.keys.push_back(std::move(found));
            return;
        }
        ++known->lines;
        if (known->fate < found.fate) {
            known->fate = found.fate;
            known->why = found.why;
            known->where = found.where;
        }
    }
    const KeyRow* find_row(KeyTable table, std::string_view key) {
        std::vector<KeyRow>& rows = rows_[table];
        if (rows.empty()) rows = key_rows(table);
        for (const KeyRow& row : rows) {
            if (equals_ignoring_case(row.name, key)) return &row;
        }
        return nullptr;
    }

    Survey survey_;
    std::map<KeyTable, std::vector<KeyRow>> rows_;
};

}  // namespace

Result<Survey> survey_slurm_conf(const std::string& path) {
    std::vector<FlatLine> lines = TRY(read_lines(path));
    Parsed parsed = parse_what_can_be(lines);
    Surveyor surveyor;
    for (const FlatLine& line : lines) surveyor.add_line(line);
    for (std::string& text : parsed.others) surveyor.add_refusal(std::move(text));
    const auto add_notes = [&](const std::vector<std::string>& messages, KeyFate fate) {
        for (const std::string& message : messages) {
            const Note note = note_in(message);
            const bool is_of_line = note.line > 0 && note.line <= lines.size();
            surveyor.add_note(is_of_line ? lines[note.line - 1].where : "", note.text, fate);
        }
    };
    add_notes(parsed.config.warnings, KeyFate::Partly);
    add_notes(parsed.config.unsupported, KeyFate::Refused);
    return surveyor.take();
}

}  // namespace sluice
