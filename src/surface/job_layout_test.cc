// How a job's demands about sockets, switches and features show in squeue and scontrol.
#include <gtest/gtest.h>

#include "surface/jobs.h"
#include "surface/records.h"

namespace sluice {
namespace {

using C = JobColumn;

class Listing {
public:
    Listing() { table_.set_rows(1); }
    Listing& number(C column, std::int64_t value) {
        table_.add_column(static_cast<ColumnId>(column)).numbers = {value};
        return *this;
    }
    Listing& text(C column, std::string_view value) {
        const std::uint32_t index = table_.intern(value);
        table_.add_column(static_cast<ColumnId>(column)).texts = {index};
        return *this;
    }
    std::string record() const {
        const Sheet sheet(table_, looks_);
        std::string out;
        append_job_record({&sheet, 0}, RecordStyle{}, out);
        return out;
    }
    std::string field(std::string_view name) const {
        const Sheet sheet(table_, looks_);
        std::string out;
        for (const JobField& each : job_fields()) {
            if (each.name == name) each.append({&sheet, 0}, out);
        }
        return out;
    }

private:
    Table table_;
    Looks looks_;
};

Listing full_job() {
    Listing job;
    job.number(C::Id, 7).number(C::Batch, 1).number(C::NtasksPerSocket, 3);
    job.number(C::NtasksPerCore, 1).number(C::NtasksPerGpu, 2).number(C::SocketsPerNode, 2);
    job.number(C::CoresPerSocket, 4).number(C::ThreadsPerCore, 1).number(C::CoreSpec, 2);
    job.number(C::MemPerGpu, 2048).number(C::Contiguous, 1).number(C::SpreadJob, 1);
    job.number(C::GresEnforceBind, 1).number(C::SwitchesMax, 1).number(C::SwitchesWait, 300);
    job.number(C::OverSubscribe, 2).text(C::Prefer, "a40").text(C::CpusPerTres, "gres/gpu:3");
    job.text(C::MemPerTres, "gres/gpu:2048").text(C::TresPerSocket, "gres/gpu:1");
    return job;
}

TEST(JobLayout, RecordsHaveALineForEachDemand) {
    const std::string record = full_job().record();
    for (const char* line :
         {"ReqB:S:C:T=0:0:4:1\n", "\n   Socks/Node=2 NtasksPerN:B:S:C=0:0:3:1 CoreSpec=2\n",
          "MinMemoryTRES=2G ", "\n   Prefer=a40\n", "OverSubscribe=OK Exclusive=NO Contiguous=1 ",
          "\n   Switches=1@00:05:00\n   GresEnforceBind=Yes SpreadJob=Yes\n"
          "   CpusPerTres=gres/gpu:3\n   MemPerTres=gres/gpu:2048\n   TresPerSocket=gres/gpu:1\n"
          "   NtasksPerTRES=2\n"}) {
        EXPECT_NE(record.find(line), std::string::npos) << line << " in\n" << record;
    }
}

TEST(JobLayout, FieldsShowWhatWasAskedFor) {
    const Listing job = full_job();
    EXPECT_EQ(job.field("Sockets"), "2");
    EXPECT_EQ(job.field("SCT"), "2:4:1");
    EXPECT_EQ(job.field("CoreSpec"), "2");
    EXPECT_EQ(job.field("NTPerCore"), "1");
    EXPECT_EQ(job.field("NTPerSocket"), "3");
    EXPECT_EQ(job.field("cpus-per-tres"), "gres/gpu:3");
    EXPECT_EQ(job.field("mem-per-tres"), "gres/gpu:2048");
    EXPECT_EQ(job.field("tres-per-socket"), "gres/gpu:1");
    EXPECT_EQ(job.field("MinMemory"), "2G");
    EXPECT_EQ(job.field("Contiguous"), "1");
    EXPECT_EQ(job.field("ReqSwitch"), "1");
    EXPECT_EQ(job.field("Wait4Switch"), "5:00");
    EXPECT_EQ(job.field("Prefer"), "a40");
    EXPECT_EQ(job.field("OverSubscribe"), "OK");
}

TEST(JobLayout, ThreadsBindingsAndNodeCountsAreShown) {
    Listing job;
    job.number(C::Id, 7).number(C::ThreadSpec, 3).text(C::TresBind, "gres/gpu:single:1");
    job.number(C::NodeCount, 1).number(C::NodeCountMax, 9).text(C::NodeSizes, "1,5,9");
    const std::string record = job.record();
    for (const char* text :
         {" ThreadSpec=3\n", "\n   TresBind=gres/gpu:single:1", "\n   NumNodes=1,5,9 "}) {
        EXPECT_NE(record.find(text), std::string::npos) << text << " in\n" << record;
    }
    EXPECT_EQ(job.field("CoreSpec"), "3 Threads");
    EXPECT_EQ(job.field("tres-bind"), "gres/gpu:single:1");
}

TEST(JobLayout, NothingAskedForShowsAsSlurmShowsIt) {
    const Listing job;
    EXPECT_EQ(job.field("SCT"), "*:*:*");
    EXPECT_EQ(job.field("CoreSpec"), "N/A");
    EXPECT_EQ(job.field("NTPerCore"), "N/A");
    EXPECT_EQ(job.field("cpus-per-tres"), "N/A");
    EXPECT_EQ(job.field("ReqSwitch"), "0");
    EXPECT_EQ(job.field("Wait4Switch"), "0:00");
    EXPECT_EQ(job.field("Prefer"), "(null)");
    EXPECT_EQ(job.field("OverSubscribe"), "NO");
}

}  // namespace
}  // namespace sluice
