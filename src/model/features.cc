#include "model/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "model/errors.h"
#include "model/sizes.h"

namespace sluice {

namespace {

// More than users need, small enough to bound the work of the parser.
constexpr std::size_t kTextMax = sizes::kFeatures;
constexpr std::size_t kSetsMax = 256;
constexpr int kDepthMax = 32;
constexpr std::uint64_t kCountMax = 1'000'000;
constexpr std::string_view kOperators = "&,|()[]*! \t\n";

// A name or a group, with the count after it.
struct Unit {
    FeatureChoice choice;
    std::uint32_t count = 0;  // 0: none given
};

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Result<FeatureExpression> parse() {
        if (text_.size() > kTextMax) return wrong();
        FeatureChoice plain = TRY(any(0));
        if (at_ != text_.size()) return wrong();
        out_.every = TRY(both(out_.every, plain));
        return std::move(out_);
    }

private:
    Error wrong() const {
        return {ErrorCode::InvalidFeature, fmt::format("'{}'", text_.substr(0, kTextMax))};
    }

    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) {
        if (next() != c) return false;
        ++at_;
        return true;
    }
    bool take_and() { return take('&') || take(','); }

    // a|b. Neither counts nor brackets can be an alternative.
    Result<FeatureChoice> any(int depth) {
        FeatureChoice choice = TRY(all(depth));
        const bool special = is_special();
        while (take('|')) {
            FeatureChoice more = TRY(all(depth));
            if (special || is_special()) return wrong();
            choice = either(choice, more);
            if (choice.size() > kSetsMax) return wrong();
        }
        return choice;
    }

    // a&b. Brackets and counts are stored in the expression, the rest is returned.
    Result<FeatureChoice> all(int depth) {
        FeatureChoice choice;
        do {
            if (depth == 0 && take('[')) {
                TRY(brackets());
                continue;
            }
            Unit unit = TRY(this->unit(depth));
            if (unit.count == 0) {
                choice = TRY(both(choice, unit.choice));
            } else {
                if (depth > 0 || is_special()) return wrong();
                out_.counted.push_back({std::move(unit.choice), unit.count});
            }
        } while (take_and());
        return choice;
    }

    // [a|b] or [a*2&b*1], after the opening one.
    Result<void> brackets() {
        if (is_special()) return wrong();
        FeatureChoice together;
        bool counted = false;
        do {
            Unit unit = TRY(this->unit(1));
            if (together.empty()) counted = unit.count > 0;
            if (counted != (unit.count > 0)) return wrong();
            together = either(together, unit.choice);
            if (together.size() > kSetsMax) return wrong();
            if (counted) {
                out_.counted.push_back({std::move(unit.choice), unit.count});
            } else {
                out_.same.push_back(std::move(unit.choice));
            }
        } while (counted ? take_and() : take('|'));
        if (!take(']')) return wrong();
        out_.every = TRY(both(out_.every, together));
        return {};
    }

    Result<Unit> unit(int depth) {
        Unit unit;
        if (take('(')) {
            if (depth >= kDepthMax) return wrong();
            unit.choice = TRY(any(depth + 1));
            if (!take(')')) return wrong();
        } else {
            std::size_t end = std::min(text_.find_first_of(kOperators, at_), text_.size());
            if (end == at_) return wrong();
            unit.choice = {{std::string(text_.substr(at_, end - at_))}};
            at_ = end;
        }
        if (!take('*')) return unit;
        std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
        std::optional<std::uint64_t> count = to_number(text_.substr(at_, end - at_));
        if (!count || *count == 0 || *count > kCountMax) return wrong();
        unit.count = static_cast<std::uint32_t>(*count);
        at_ = end;
        return unit;
    }

    bool is_special() const { return !out_.same.empty() || !out_.counted.empty(); }

    static FeatureChoice either(FeatureChoice a, const FeatureChoice& b) {
        for (const FeatureSet& set : b) {
            if (std::find(a.begin(), a.end(), set) == a.end()) a.push_back(set);
        }
        return a;
    }

    // Combines each set of the one with each of the other; an empty choice has no effect.
    Result<FeatureChoice> both(const FeatureChoice& a, const FeatureChoice& b) const {
        if (a.empty() || b.empty()) return a.empty() ? b : a;
        if (a.size() * b.size() > kSetsMax) return wrong();
        FeatureChoice product;
        for (const FeatureSet& first : a) {
            for (const FeatureSet& second : b) {
                FeatureSet joined = first;
                for (const std::string& name : second) {
                    if (std::find(joined.begin(), joined.end(), name) == joined.end()) {
                        joined.push_back(name);
                    }
                }
                product.push_back(std::move(joined));
            }
        }
        return product;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    FeatureExpression out_;
};

void collect(const FeatureChoice& choice, std::set<std::string>& names) {
    for (const FeatureSet& set : choice) names.insert(set.begin(), set.end());
}

}  // namespace

bool matches(const FeatureChoice& choice, const std::vector<std::string>& features) {
    auto has = [&](const std::string& name) {
        return std::find(features.begin(), features.end(), name) != features.end();
    };
    return choice.empty() || std::any_of(choice.begin(), choice.end(), [&](const FeatureSet& set) {
               return std::all_of(set.begin(), set.end(), has);
           });
}

Result<FeatureExpression> FeatureExpression::parse(std::string_view text) {
    if (text.empty()) return FeatureExpression{};
    return Parser(text).parse();
}

bool FeatureExpression::matches(const std::vector<std::string>& features) const {
    return sluice::matches(every, features);
}

std::uint32_t FeatureExpression::nodes_min() const {
    std::uint32_t sum = 0;
    for (const Counted& each : counted) sum += each.count;
    return sum;
}

std::vector<std::string> FeatureExpression::names() const {
    std::set<std::string> names;
    collect(every, names);
    for (const FeatureChoice& choice : same) collect(choice, names);
    for (const Counted& each : counted) collect(each.choice, names);
    return {names.begin(), names.end()};
}

}  // namespace sluice
