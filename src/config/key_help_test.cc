#include "config/key_help.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {

namespace {

using enum KeyTable;
constexpr KeyTable kTables[] = {
    SlurmConf,         NodeName, NodeSet,    DownNodes,    PartitionName, SchedulerParameters,
    PreemptParameters, GresConf, CgroupConf, TopologyConf, SlurmdbdConf};

TEST(KeyHelp, EveryKeyWithAnEffectHasAText) {
    for (KeyTable table : kTables) {
        for (const KeyRow& row : key_rows(table)) {
            EXPECT_EQ(row.has_effect, !row.help.empty()) << row.name;
        }
    }
}

TEST(KeyHelp, EveryTextBelongsToAKey) {
    for (KeyTable table : kTables) {
        const std::vector<KeyRow> rows = key_rows(table);
        for (const KeyHelp& help : key_help(table)) {
            EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                                    [&](const KeyRow& row) { return row.name == help.name; }),
                      1)
                << help.name;
            EXPECT_TRUE(help.text.ends_with('.')) << help.name;
        }
    }
}

TEST(KeyHelp, RefusedKeysHaveAReason) {
    const std::vector<RefusedKey> refused = refused_keys();
    EXPECT_GT(refused.size(), 8u);
    for (const RefusedKey& key : refused) EXPECT_FALSE(key.reason.empty()) << key.key;
}

}  // namespace

}  // namespace sluice
