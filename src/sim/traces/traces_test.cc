// sim/traces/traces_test.cc: traces in each format, and the errors that name the place.
#include <gtest/gtest.h>

#include "sim/generate.h"
#include "sim/traces/trace.h"

namespace sluice {
namespace {

std::string error_of(std::string_view text, TraceFormat format) {
    Result<Trace> trace = parse_trace("t", text, format);
    return trace ? "" : trace.error().detail;
}

TEST(Swf, ReadsWhatWasAskedAndHowLongItTook) {
    Trace trace = parse_trace("t",
                              "; UnixStartTime: 1000\n\n"
                              " 2 60 5 100 4 -1 -1 8 200 2048 1 7 3 -1 2 -1 -1 -1\n"
                              " 1 10 0 50 4 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1 ; a comment\n"
                              " 3 70 0 -1 4 -1 -1 8 200 -1 5 7 3 -1 2 -1 -1 -1\n"
                              " 4 70 0 9 4 -1 -1 8 200 -1 2 7 3 -1 2 -1 -1 -1\n",
                              TraceFormat::Swf)
                      .value();
    ASSERT_EQ(trace.jobs.size(), 2u);
    EXPECT_EQ(trace.skipped, 2u);  // one that never ran, and a part of one that was checkpointed
    const TraceJob &first = trace.jobs[0], &second = trace.jobs[1];
    EXPECT_EQ(first.name, "1");
    EXPECT_EQ(first.submit, from_unix(1010));
    EXPECT_EQ(first.cpus, 4u);
    EXPECT_FALSE(first.limit);
    EXPECT_EQ(second.cpus, 8u);
    EXPECT_EQ(second.duration, Seconds{100});
    EXPECT_EQ(second.limit, Seconds{200});
    EXPECT_EQ(second.mem_per_cpu, 2u);
    EXPECT_EQ(second.user, "user7");
    EXPECT_EQ(second.account, "group3");
}

TEST(Swf, ErrorsNameLineColumnAndValue) {
    EXPECT_EQ(error_of("1 2 3\n", TraceFormat::Swf), "t:1: 3 columns: 18 are expected");
    EXPECT_EQ(error_of("; x\n1 10 0 5x 4 -1 -1 8 200 -1 1 7 3 -1 2 -1 -1 -1\n", TraceFormat::Swf),
              "t:2: column 4 (run time): '5x': a number is expected");
    EXPECT_EQ(error_of("; nothing\n", TraceFormat::Swf), "t: there is no job in it");
}

TEST(GpuCsv, ReadsColumnsByName) {
    Trace trace =
        parse_trace("t", "account,gpus,submit,duration,limit,cpus\nml,8,5.5,60,,16\nml,0,1,2,3,\n",
                    TraceFormat::Csv)
            .value();
    ASSERT_EQ(trace.jobs.size(), 2u);
    EXPECT_EQ(trace.jobs[0].cpus, 1u);
    EXPECT_EQ(trace.jobs[0].limit, Seconds{3});
    EXPECT_EQ(trace.jobs[1].gpus, 8u);
    EXPECT_EQ(trace.jobs[1].cpus, 16u);
    EXPECT_FALSE(trace.jobs[1].limit);
    EXPECT_EQ(trace.jobs[1].account, "ml");
}

TEST(GpuCsv, ErrorsNameLineColumnAndValue) {
    EXPECT_EQ(error_of("submit,duration,gpus\n", TraceFormat::Csv),
              "t:1: the header line names no column 'account'");
    EXPECT_EQ(error_of("submit,duration,gpus,account\n1,2,-3,a\n", TraceFormat::Csv),
              "t:2: column 3 (gpus): '-3': a count is expected");
    EXPECT_EQ(error_of("submit,duration,gpus,account\n1,2,3\n", TraceFormat::Csv),
              "t:2: 3 columns: the header line has 4");
    EXPECT_TRUE(error_of("submit,colour\n", TraceFormat::Csv)
                    .starts_with("t:1: column 2 (header): 'colour'"));
}

TEST(SacctTrace, LeavesOutStepsAndWhatNeverStarted) {
    Trace trace =
        parse_trace(
            "t",
            "JobID|Submit|Start|End|Elapsed|Timelimit|ReqTRES|Account|User|Partition|QOS\n"
            "7|2026-01-31T12:00:00|2026-01-31T12:05:00|2026-01-31T13:05:00|01:00:00|1-00:00:00|"
            "billing=8,cpu=8,gres/gpu=2,mem=4G,node=2|ml|ann|gpu|normal\n"
            "7.batch|2026-01-31T12:00:00|2026-01-31T12:05:00|2026-01-31T13:05:00|01:00:00|||ml|||\n"
            "8_3|2026-01-31T12:00:00|2026-01-31T12:05:00|2026-01-31T12:05:30|00:00:30|Partition_"
            "Limit|"
            "cpu=1,node=1|ml|ann|gpu|normal\n"
            "9|2026-01-31T12:00:00|None|Unknown|00:00:00|1:00|cpu=1,node=1|ml|ann|gpu|normal\n"
            "8_[4-9]|2026-01-31T12:00:00|Unknown|Unknown|00:00:00|1:00|cpu=1,node=1|ml|ann|gpu|"
            "normal\n",
            TraceFormat::Sacct)
            .value();
    ASSERT_EQ(trace.jobs.size(), 2u);
    EXPECT_EQ(trace.skipped, 2u);
    EXPECT_EQ(trace.jobs[0].duration, Seconds{3600});
    EXPECT_EQ(trace.jobs[0].limit, Seconds{86400});
    EXPECT_EQ(trace.jobs[0].cpus, 8u);
    EXPECT_EQ(trace.jobs[0].gpus, 2u);
    EXPECT_EQ(trace.jobs[0].nodes, 2u);
    EXPECT_EQ(trace.jobs[0].mem_per_node, 2048u);
    EXPECT_EQ(trace.jobs[1].name, "8_3");
    EXPECT_FALSE(trace.jobs[1].limit);
}

TEST(SacctTrace, EmptyCellsSayNothing) {
    Trace trace = parse_trace("t",
                              "JobID|Submit|Elapsed|ReqTRES|AllocTRES|NCPUS|AllocCPUS|NNodes\n"
                              "1|2026-01-31T12:00:00|00:01:00||cpu=3,node=1|4|4|1\n"
                              "2|2026-01-31T12:00:00|00:01:00|||4|5|2\n"
                              "3|2026-01-31T12:00:00|00:01:00||||5|\n"
                              "4|2026-01-31T12:00:00|00:01:00|||||\n",
                              TraceFormat::Sacct)
                      .value();
    ASSERT_EQ(trace.jobs.size(), 3u);
    EXPECT_EQ(trace.skipped, 1u);
    EXPECT_EQ(trace.jobs[0].cpus, 3u);
    EXPECT_EQ(trace.jobs[1].cpus, 4u);
    EXPECT_EQ(trace.jobs[1].nodes, 2u);
    EXPECT_EQ(trace.jobs[2].cpus, 5u);
    EXPECT_EQ(error_of("JobID|Submit|Elapsed|ReqTRES\n1|2026-01-31T12:00:00|00:01:00|\n",
                       TraceFormat::Sacct),
              "t: there is no job in it");
}

TEST(SacctTrace, ErrorsNameLineColumnAndValue) {
    EXPECT_EQ(
        error_of("JobID|Submit|Elapsed|NCPUS\n1|yesterdayish|00:01:00|4\n", TraceFormat::Sacct),
        "t:2: column 2 (Submit): 'yesterdayish': a time such as 2026-01-31T12:00:00 is expected");
    EXPECT_EQ(error_of("JobID|Submit|Elapsed|ReqTRES|AllocCPUS\n"
                       "1|2026-01-31T12:00:00|00:01:00||four\n",
                       TraceFormat::Sacct),
              "t:2: column 5 (AllocCPUS): 'four': a number is expected");
    EXPECT_EQ(error_of("JobID|Submit|Elapsed\n", TraceFormat::Sacct),
              "t:1: the header line names no column 'ncpus'");
}

TEST(TraceFormats, AreRecognised) {
    EXPECT_EQ(guess_trace_format("; a, comment\n1 2 3\n"), TraceFormat::Swf);
    EXPECT_EQ(guess_trace_format("submit,duration\n"), TraceFormat::Csv);
    EXPECT_EQ(guess_trace_format("JobID|ReqTRES\n1|cpu=1,node=1\n"), TraceFormat::Sacct);
}

TEST(Generate, WritesWhatTheReadersRead) {
    GenerateOptions options{.jobs = 200, .processors = 64, .load = 0.9, .seed = 3};
    Trace made = generate(options);
    Trace read = parse_trace("t", print_swf(made, options), TraceFormat::Swf).value();
    ASSERT_EQ(read.jobs.size(), made.jobs.size());
    double work = 0;
    for (std::size_t i = 0; i < read.jobs.size(); ++i) {
        EXPECT_EQ(read.jobs[i].submit, made.jobs[i].submit);
        EXPECT_EQ(read.jobs[i].duration, made.jobs[i].duration);
        EXPECT_EQ(read.jobs[i].limit, made.jobs[i].limit);
        EXPECT_LE(read.jobs[i].duration, *read.jobs[i].limit);
        EXPECT_LE(read.jobs[i].cpus, 64u);
        work += static_cast<double>(read.jobs[i].cpus * read.jobs[i].duration.count());
    }
    double span = static_cast<double>(to_unix(read.jobs.back().submit));
    EXPECT_NEAR(work / (64 * span), 0.9, 0.05);
    options.format = TraceFormat::Csv;
    EXPECT_EQ(
        parse_trace("t", print_gpu_csv(generate(options)), TraceFormat::Csv).value().jobs.size(),
        200u);
}

}  // namespace
}  // namespace sluice
