// cli/squeue/fake_shares.h
//
// For tests: associations with shares and usage as a real cluster listed them (Fair Tree).
#pragma once

#include <string>
#include <vector>

#include "cli/squeue/fake_row.h"
#include "model/columns.h"

namespace sluice {

struct FakeShare {
    int id, parent, depth;
    const char *account, *user, *partition, *parent_account;
    std::int64_t shares;
    const char *norm_shares, *raw_usage, *norm_usage, *effective, *factor, *level;
    const char *limit, *running, *used;
};

inline FakeRow row_of(const FakeShare& share) {
    using C = ShareColumn;
    FakeRow row;
    row.set(C::Id, share.id).set(C::ParentId, share.parent ? share.parent : kAbsent);
    row.set(C::Depth, share.depth).set(C::Cluster, "oracle").set(C::Account, share.account);
    row.set(C::User, share.user).set(C::Partition, share.partition);
    row.set(C::ParentAccount, share.parent_account).set(C::RawShares, share.shares);
    row.set(C::NormShares, share.norm_shares).set(C::RawUsage, share.raw_usage);
    row.set(C::NormUsage, share.norm_usage).set(C::EffectiveUsage, share.effective);
    row.set(C::FairShare, share.factor).set(C::LevelFs, share.level);
    row.set(C::GrpTresMins, share.limit).set(C::TresRunSeconds, share.running);
    row.set(C::TresSeconds, share.used).set(C::IsFairTree, 1);
    return row;
}

inline std::vector<FakeRow> fake_shares() {
    constexpr const char* kIdle = "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0";
    constexpr const char* kBusy =
        "cpu=72000,mem=102182400,energy=0,node=3600,billing=72000,fs/disk=0,vmem=0,pages=0";
    // clang-format off
    const FakeShare all[] = {
        {1, 0, 0, "root", "", "", "", kAbsent, "0", "1234.6", "", "1", "", "", "", kBusy, "cpu=1054.8,mem=1180620,energy=0,node=480,billing=1234.6,fs/disk=0,vmem=0,pages=0"},
        {2, 1, 1, "root", "root", "", "root", 1, "0.003322259", "0", "0", "0", "1", "inf", "", kIdle, kIdle},
        {8, 1, 1, "sa", "", "", "root", 40, "0.132890365", "449.95", "0.364376", "0.364376", "", "0.364706", "cpu=6000,gres/gpu=60", kIdle, kIdle},
        {10, 8, 2, "sa1", "", "", "sa", 3, "0.75", "419.9", "0.340083", "0.933330", "", "0.803574", "", kIdle, kIdle},
        {14, 10, 3, "sa1", "bin", "", "sa1", 10, "0.5", "179.9", "0.145747", "0.428563", "0.615385", "1.166690", "", kIdle, "cpu=179.9,mem=179940,energy=0,node=89.9,billing=179.9,fs/disk=0,vmem=0,pages=0"},
        {13, 10, 3, "sa1", "daemon", "", "sa1", 10, "0.5", "239.9", "0.194336", "0.571437", "0.538462", "0.874987", "", kBusy, kIdle},
        {9, 1, 1, "sb", "", "", "root", 60, "0.199335548", "784.7", "0.635624", "0.635624", "", "0.313606", "", kIdle, kIdle},
        {19, 9, 2, "sb", "lp", "long", "sb", 7, "0.388888889", "299.9", "0.242920", "0.382176", "0.153846", "1.017564", "", kIdle, kIdle},
        {17, 9, 2, "sb", "man", "", "sb", kUnlimited, "0.199335548", "39.9", "0.032390", "0.050958", "0.461538", "", "", kIdle, kIdle},
    };
    // clang-format on
    std::vector<FakeRow> rows;
    for (const FakeShare& share : all) rows.push_back(row_of(share));
    return rows;
}

}  // namespace sluice
