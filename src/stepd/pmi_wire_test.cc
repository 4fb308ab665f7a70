#include "stepd/pmi_wire.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

PmiCommand read_one(PmiDialect dialect, std::string_view text) {
    PmiReader reader;
    reader.set_dialect(dialect);
    reader.feed(text);
    const auto command = reader.next();
    EXPECT_TRUE(command && *command) << text;
    return command && *command ? **command : PmiCommand{};
}

TEST(PmiWire, OneIsALine) {
    const PmiCommand put{"put", {{"kvsname", "1.0"}, {"key", "k"}, {"value", "a=b"}}};
    EXPECT_EQ(read_one(PmiDialect::One, "cmd=put kvsname=1.0 key=k value=a=b\n"), put);
    EXPECT_EQ(print_pmi(PmiDialect::One, put), "cmd=put kvsname=1.0 key=k value=a=b\n");
}

TEST(PmiWire, ASpawnOfOneIsManyLines) {
    const PmiCommand spawn{"spawn", {{"nprocs", "2"}, {"totspawns", "1"}}};
    EXPECT_EQ(read_one(PmiDialect::One, "mcmd=spawn\nnprocs=2\ntotspawns=1\nendcmd\n"), spawn);
}

TEST(PmiWire, TwoHasALengthAndDoublesSemicolons) {
    const PmiCommand put{"kvs-put", {{"key", "k"}, {"value", "a;b;;c"}}};
    const std::string text = print_pmi(PmiDialect::Two, put);
    EXPECT_EQ(text, "    34cmd=kvs-put;key=k;value=a;;b;;;;c;");
    EXPECT_EQ(read_one(PmiDialect::Two, text), put);
}

TEST(PmiWire, CommandsComeInPieces) {
    const std::string text = print_pmi(PmiDialect::Two, {"job-getid", {}});
    PmiReader reader;
    reader.set_dialect(PmiDialect::Two);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto early = reader.next();
        ASSERT_TRUE(early);
        EXPECT_FALSE(*early);
        reader.feed(text.substr(i, 1));
    }
    EXPECT_EQ(**reader.next(), (PmiCommand{"job-getid", {}}));
}

TEST(PmiWire, RefusesRubbishAndWhatNeverEnds) {
    const std::pair<PmiDialect, std::string> texts[] = {
        {PmiDialect::One, "hello\n"},
        {PmiDialect::One, "\n"},
        {PmiDialect::One, std::string(kPmiCommandMax + 1, 'x')},
        {PmiDialect::One, "mcmd=spawn\n" + std::string(kPmiCommandMax, '\n')},
        {PmiDialect::Two, "cmd=put;"},
        {PmiDialect::Two, "999999cmd=x;"},
        {PmiDialect::Two, "     3abc"},
        {PmiDialect::Two, "    -1cmd=x;"},
    };
    for (const auto& [dialect, text] : texts) {
        PmiReader reader;
        reader.set_dialect(dialect);
        reader.feed(text);
        EXPECT_FALSE(reader.next()) << text.substr(0, 40);
    }
}

TEST(PmiWire, TheLongestCommandIsRead) {
    const std::string line = "cmd=put value=" + std::string(kPmiCommandMax - 14, 'x');
    EXPECT_EQ(read_one(PmiDialect::One, line + "\n").name, "put");
}

}  // namespace
}  // namespace sluice
