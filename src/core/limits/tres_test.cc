#include "core/limits/tres.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string wanted(const Shape& shape) {
    JobTerms terms;
    terms.shape = shape;
    Job job;
    job.request = std::make_shared<const JobTerms>(std::move(terms));
    Snapshot snapshot;
    snapshot.partitions = std::make_shared<const std::vector<Partition>>();
    snapshot.settings = std::make_shared<const Settings>();
    return print_tres(tres_wanted(job, snapshot));
}

TEST(TresWanted, GpusAreCountedOnceHoweverTheyAreAskedFor) {
    const std::vector<GresCount> two = {{"gpu", "", 2}}, four = {{"gpu", "", 4}};
    EXPECT_EQ(wanted({.nodes_min = 2, .gres_per_node = two}), "cpu=2,node=2,billing=2,gres/gpu=4");
    EXPECT_EQ(wanted({.nodes_min = 2, .gres_per_node = two, .gpus = four}),
              "cpu=2,node=2,billing=2,gres/gpu=4");
    EXPECT_EQ(wanted({.ntasks = 2, .gpus = four, .gpus_per_task = two}),
              "cpu=2,node=1,billing=2,gres/gpu=4");
    EXPECT_EQ(wanted({.gpus_per_socket = two, .sockets_per_node = 2}),
              "cpu=1,node=1,billing=1,gres/gpu=4");
}

TEST(TresWanted, SizesByGpuFollowTheGpus) {
    EXPECT_EQ(wanted({.mem_per_gpu = 1024, .cpus_per_gpu = 3, .gpus = {{"gpu", "a40", 4}}}),
              "cpu=12,mem=4G,node=1,billing=12,gres/gpu=4,gres/gpu:a40=4");
}

TEST(Billing, IsTheWeightedSumOfWhatIsHeld) {
    const Tres tres{
        {"cpu", 6}, {"mem", 3 * 1024}, {"node", 1}, {"gres/gpu", 2}, {"gres/gpu:a40", 2}};
    EXPECT_EQ(billing_of(tres, "", BillingRule::Sum), 6u);
    EXPECT_EQ(billing_of(tres, "CPU=1.0,Mem=0.5G,GRES/gpu=2.0", BillingRule::Sum), 6u + 1 + 4);
    EXPECT_EQ(billing_of(tres, "Mem=0.01", BillingRule::Sum), 30u);
    EXPECT_EQ(billing_of(tres, "GRES/gpu:a40=1.5, GRES/gpu:h100=9", BillingRule::Sum), 3u);
    EXPECT_EQ(billing_of(tres, "License/x=5", BillingRule::Sum), 0u);
    EXPECT_EQ(exact_billing(tres, "CPU=0.3,Mem=0.5G", BillingRule::Sum), 6 * 0.3 + 1.5);
}

TEST(Billing, MayBeTheLargestPart) {
    const Tres tres{{"cpu", 6}, {"mem", 3 * 1024}, {"node", 1}, {"gres/gpu", 2}};
    const char* weights = "CPU=1.0,Mem=0.5G,GRES/gpu=2.0";
    EXPECT_EQ(billing_of(tres, weights, BillingRule::MaxTres), 6u);
    EXPECT_EQ(billing_of(tres, "CPU=1.0,GRES/gpu=4.0", BillingRule::MaxTres), 8u);
    EXPECT_EQ(billing_of(tres, weights, BillingRule::MaxTresGres), 6u + 4);
    EXPECT_EQ(billing_of(tres, "", BillingRule::MaxTres), 6u);
}

}  // namespace
}  // namespace sluice
