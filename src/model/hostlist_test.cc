// model/hostlist_test.cc: hostlists: read, printed, added and taken away.
#include "model/hostlist.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/text.h"
#include "model/errors.h"

namespace sluice {
namespace {

std::string folded(std::string_view text) {
    Result<Hostlist> list = Hostlist::parse(text);
    return list ? list->to_string() : "error";
}
std::string sorted(std::string_view text) {
    return Hostlist::parse(text)->sorted().to_string();
}
std::string expanded(std::string_view text) {
    Result<Hostlist> list = Hostlist::parse(text);
    return list ? join(list->names(), " ") : "error";
}

struct Pair {
    std::string_view given, expected;
};

TEST(Hostlist, FoldsAsScontrolShowHostlist) {
    constexpr Pair kPairs[] = {
        {"n1,n2,n3", "n[1-3]"},
        {"n01,n1,n2,n02,n3", "n[01,1-2,02,3]"},
        {"n3,n2,n1", "n[3,2,1]"},
        {"n1,n1,n2", "n[1,1-2]"},
        {"n9,n10,n11", "n[9-11]"},
        {"n09,n10,n11", "n[09-11]"},
        {"n099,n100", "n[099-100]"},
        {"n8,n9,n010", "n[8-9,010]"},
        {"n1,m1,n2", "n1,m1,n2"},
        {"gpu1x0,gpu1x1,gpu2x0,gpu2x1", "gpu1x[0-1],gpu2x[0-1]"},
        {"n01-ib,n02-ib", "n01-ib,n02-ib"},
        {"n,n1,n2", "n,n[1-2]"},
        {"1,2,3", "[1-3]"},
        {"n0,n00,n000", "n[0,00,000]"},
        {"n4294967295,n4294967296", "n[4294967295-4294967296]"},
        {"n-1,n-2", "n-[1-2]"},
        {"a13,a14,a23,a24", "a[13-14,23-24]"},
        {"n1,n2,n2,n3", "n[1-2,2-3]"},
        {"login", "login"},
        {"", ""},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(folded(pair.given), pair.expected) << pair.given;
}

TEST(Hostlist, SortsAsScontrolShowHostlistsorted) {
    constexpr Pair kPairs[] = {
        {"n3,n2,n1", "n[1-3]"},
        {"n1,n1,n2,n1", "n[1,1,1-2]"},
        {"n01,n1,n2,n02,n3,n10,n010", "n[1-3,01-02,10,010]"},
        {"b1,a2,a10,a1,c,login,n,a", "a,a[1-2,10],b1,c,login,n"},
        {"n2x1,n1x2,n1x10,n10x1", "n1x[2,10],n2x1,n10x1"},
        {"n01-ib,n02-ib,n1,n0", "n[0-1],n01-ib,n02-ib"},
        {"A1,a1,B1", "A1,B1,a1"},
        {"n01x1,n1x1,n2x1,n02x1,n10x1,n010x1,n001x1", "n001x1,n01x1,n010x1,n02x1,n1x1,n2x1,n10x1"},
        {"n-1,n_1,n1,na1,n.1", "n1,n-1,n.1,n_1,na1"},
        {"n00y,n0x,n00x,n000a", "n0x,n00x,n00y,n000a"},
        {"x01y1,x1y1,x1y01,x01y01", "x01y[1,01],x1y[1,01]"},
    };
    for (const Pair& pair : kPairs) EXPECT_EQ(sorted(pair.given), pair.expected) << pair.given;
}

TEST(Hostlist, ExpandsBracketsPaddingAndSuffixes) {
    EXPECT_EQ(expanded("n[01-03,7],login"), "n01 n02 n03 n7 login");
    EXPECT_EQ(expanded("n[1-2]x[0-1]"), "n1x0 n1x1 n2x0 n2x1");
    EXPECT_EQ(expanded("n[01-02]-ib"), "n01-ib n02-ib");
    EXPECT_EQ(expanded("n[01-3]"), "n01 n02 n03");
    EXPECT_EQ(expanded(" n1 , n2\tn3,,"), "n1 n2 n3");
}

TEST(Hostlist, RefusesWhatIsMalformedAndSaysWhich) {
    for (std::string_view bad : {"n[10-5]", "n[1", "n1]", "n[a-b]", "n[]", "n[1-]", "n[1--2]",
                                 "n[1-2]]", "n[[1-2]]", "n[0x1-0x2]", "n[1:3]", "n[1 3]"}) {
        Result<Hostlist> list = Hostlist::parse(bad);
        ASSERT_FALSE(list) << bad;
        EXPECT_EQ(list.error().code, ErrorCode::InvalidNodeName);
        EXPECT_NE(list.error().detail.find(bad), std::string::npos) << list.error().detail;
    }
}

TEST(Hostlist, RefusesHugeListsBeforeMakingThem) {
    EXPECT_FALSE(Hostlist::parse("n[0-131072]"));
    EXPECT_FALSE(Hostlist::parse("n[0-9999]x[0-9999]"));
    EXPECT_FALSE(Hostlist::parse("n[1-999999999999999999]"));
    EXPECT_FALSE(Hostlist::parse("n[1-99999999999999999999999]"));
    EXPECT_FALSE(Hostlist::parse(std::string(300, 'n') + "[1-2]"));
    EXPECT_EQ(Hostlist::parse("n[0-131071]")->size(), kHostlistSizeMax);
}

TEST(Hostlist, NumbersTooLongToCountStayNames) {
    EXPECT_EQ(folded("n99999999999999999999998"), "n99999999999999999999998");
    EXPECT_EQ(expanded(folded("n99999999999999999999998,n99999999999999999999999")),
              "n99999999999999999999998 n99999999999999999999999");
}

TEST(Hostlist, UnitesAndSubtracts) {
    Hostlist a = *Hostlist::parse("n[3,1]"), b = *Hostlist::parse("n[2-3]");
    EXPECT_EQ(a.united(b).to_string(), "n[1-3]");
    EXPECT_EQ(a.without(b).to_string(), "n1");
    EXPECT_TRUE(a.contains("n3"));
    EXPECT_FALSE(a.contains("n2"));
}

TEST(Hostlist, FoldsAHundredThousandNames) {
    Hostlist list = *Hostlist::parse("rack[001-100]n[0001-1000]");
    EXPECT_EQ(list.size(), 100'000u);
    EXPECT_EQ(list.to_string().substr(0, 34), "rack001n[0001-1000],rack002n[0001-");
}

rc::Gen<std::string> host_name() {
    return rc::gen::apply(
        [](const std::string& prefix, int number, int width, const std::string& suffix) {
            return fmt::format("{}{:0{}}{}", prefix, number, width, suffix);
        },
        rc::gen::element<std::string>("n", "gpu", "n1x", "r01-", ""), rc::gen::inRange(0, 120),
        rc::gen::inRange(1, 4), rc::gen::element<std::string>("", "", "", "-ib"));
}

TEST(Hostlist, ReadsBackWhatItPrints) {
    EXPECT_TRUE(rc::check("parse(print(x)) == x", [] {
        Hostlist list(*rc::gen::container<std::vector<std::string>>(host_name()));
        RC_ASSERT(*Hostlist::parse(list.to_string()) == list);
        RC_ASSERT(*Hostlist::parse(list.sorted().to_string()) == list.sorted());
    }));
}

TEST(Hostlist, OrderIsStrictAndTotal) {
    EXPECT_TRUE(rc::check("host_less orders", [] {
        std::string a = *host_name(), b = *host_name(), c = *host_name();
        RC_ASSERT((a == b) == (!host_less(a, b) && !host_less(b, a)));
        if (host_less(a, b) && host_less(b, c)) RC_ASSERT(host_less(a, c));
    }));
}

}  // namespace
}  // namespace sluice
