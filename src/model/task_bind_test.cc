#include "model/task_bind.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string cpu_error(std::string_view text) {
    const Result<TaskBind> bind = parse_cpu_bind(text);
    return bind ? "accepted" : bind.error().detail;
}

TEST(TaskBind, TheLastKindCountsAndAVerbosityIsNoKind) {
    EXPECT_EQ(parse_cpu_bind("verbose,cores").value(),
              (TaskBind{.kind = BindKind::Cores, .verbose = true, .listed = {}}));
    EXPECT_EQ(parse_cpu_bind("v").value(), (TaskBind{.verbose = true, .listed = {}}));
    EXPECT_EQ(parse_cpu_bind("V,Cores,q").value(),
              (TaskBind{.kind = BindKind::Cores, .listed = {}}));
    EXPECT_EQ(parse_cpu_bind("map_cpu:1,sockets").value(),
              (TaskBind{.kind = BindKind::Sockets, .listed = {}}));
}

TEST(TaskBind, WordsMayBeShortened) {
    const std::pair<const char*, BindKind> kWords[] = {
        {"no", BindKind::None},
        {"none", BindKind::None},
        {"thread", BindKind::Threads},
        {"threads", BindKind::Threads},
        {"core", BindKind::Cores},
        {"socket", BindKind::Sockets},
        {"ldom", BindKind::Domains},
        {"ldoms", BindKind::Domains},
        {"rank", BindKind::Rank},
        {"rank_ldom", BindKind::DomainRank},
        {"map_ldom:0x1f", BindKind::DomainMap},
        {"mask_ldom:3", BindKind::DomainMask},
    };
    for (const auto& [text, kind] : kWords) {
        EXPECT_EQ(parse_cpu_bind(text).value().kind, kind) << text;
    }
    EXPECT_EQ(parse_cpu_bind("map_ldom:0x1f,2").value().listed, (std::vector<Numbers>{{31}, {2}}));
}

TEST(TaskBind, ListsEndWhereAnotherWordBegins) {
    const TaskBind map = parse_cpu_bind("map_cpu:0,3*2,7,verbose").value();
    EXPECT_EQ(map.listed, (std::vector<Numbers>{{0}, {3}, {3}, {7}}));
    EXPECT_EQ(map.list, "0,3*2,7");
    EXPECT_TRUE(map.verbose);
    EXPECT_EQ(parse_cpu_bind("q,mask_cpu:0x3,C,F0*2").value().listed,
              (std::vector<Numbers>{{0, 1}, {2, 3}, {4, 5, 6, 7}, {4, 5, 6, 7}}));
}

TEST(TaskBind, BadWordsAndNumbersAreNamed) {
    EXPECT_EQ(cpu_error("foo"), "unrecognized --cpu-bind argument \"foo\"");
    EXPECT_EQ(cpu_error(""), "unrecognized --cpu-bind argument \"\"");
    EXPECT_EQ(cpu_error("map_cpu:0,1,foo"), "unrecognized --cpu-bind argument \"foo\"");
    EXPECT_EQ(cpu_error("prefer,cores"), "unrecognized --cpu-bind argument \"prefer\"");
    EXPECT_EQ(cpu_error("map_cpu:"), "missing list for \"--cpu-bind=map_cpu:<list>\"");
    EXPECT_EQ(cpu_error("map_cpu:0x5"),
              "Failed to validate number: 0x5, the offending character is x");
    EXPECT_EQ(cpu_error("mask_cpu:xyz"),
              "Failed to validate number: xyz, the offending character is x");
    for (const char* text :
         {"map_cpu:4096", "map_cpu:1*0", "map_cpu:1*x", "map_cpu:1*65537", "map_cpu:1*65536,2",
          "mask_cpu:0x", "map_ldom:1024", "map_cpu:-1", "map_ldom:0x", "map_ldom:0x100000000"}) {
        EXPECT_NE(cpu_error(text), "accepted") << text;
    }
    EXPECT_EQ(cpu_error("map_cpu:4095,1*65535"), "accepted");
    EXPECT_EQ(cpu_error("map_ldom:1023"), "accepted");
}

TEST(TaskBind, OfMemory) {
    EXPECT_EQ(parse_mem_bind("v,prefer,map_mem:0x1,0").value(), (TaskBind{.kind = BindKind::Map,
                                                                          .verbose = true,
                                                                          .prefer = true,
                                                                          .list = "0x1,0",
                                                                          .listed = {{1}, {0}}}));
    EXPECT_EQ(parse_mem_bind("local").value().kind, BindKind::Local);
    EXPECT_EQ(parse_mem_bind("p,rank").value().kind, BindKind::Rank);
    for (const char* text : {"sort", "cores", "map_cpu:0", "mask_mem:g"}) {
        EXPECT_FALSE(parse_mem_bind(text)) << text;
    }
    EXPECT_EQ(parse_mem_bind("sort").error().detail, "unrecognized --mem-bind argument \"sort\"");
}

TEST(TaskBind, WordsAndMasksArePrinted) {
    EXPECT_EQ(cpu_bind_word(BindKind::Map), "map_cpu:");
    EXPECT_EQ(mem_bind_word(BindKind::Map), "map_mem:");
    EXPECT_EQ(cpu_bind_word(BindKind::Unset), "");
    EXPECT_EQ(print_mask({}), "0x0");
    EXPECT_EQ(print_mask({0, 8}, 4), "0x0101");
    EXPECT_EQ(print_mask({2, 3, 4, 5}), "0x3C");
    EXPECT_EQ(print_mask({64}), "0x10000000000000000");
}

}  // namespace
}  // namespace sluice
