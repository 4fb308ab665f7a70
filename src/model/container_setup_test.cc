#include "model/container_setup.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(ContainerSetup, IsReadAsItWasPrinted) {
    ContainerSetup setup{.image = "ubuntu:22.04",
                         .name = "work",
                         .mounts = "/data:/mnt:ro,/home",
                         .workdir = "/mnt",
                         .environment = "PATH,HOME",
                         .mount_home = true,
                         .writable = true,
                         .entrypoint = true};
    const Result<ContainerSetup> read = parse_container_setup(print_container_setup(setup));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, setup);
}

TEST(ContainerSetup, WhatIsNotASettingIsRefused) {
    for (const char* text : {"", "mounts=/a:/b\n", "image=x\nprivileged\n", "name=../x\n",
                             "image=x\nmounts=a:/b\n", "image=x\nworkdir=mnt\n", "=x\n"}) {
        EXPECT_FALSE(parse_container_setup(text)) << text;
    }
}

TEST(ContainerSetup, MountsHaveASourceADestinationAndFlags) {
    const auto mounts = parse_container_mounts("/data:/mnt:ro+nosuid,/home");
    ASSERT_TRUE(mounts);
    ASSERT_EQ(mounts->size(), 2u);
    EXPECT_EQ((*mounts)[0], (ContainerMount{"/data", "/mnt", {"ro", "nosuid"}}));
    EXPECT_EQ((*mounts)[1], (ContainerMount{"/home", "/home", {}}));
}

TEST(ContainerSetup, MountsThatAreNotAbsoluteAreRefused) {
    for (const char* text : {"data:/mnt", "/data:mnt", "/data/../etc:/mnt", "/data:/mnt/../..",
                             "/data:/", "/data:/mnt:suid", "/a:/b:ro:x", "./data:/mnt", ""}) {
        const auto mounts = parse_container_mounts(text);
        ASSERT_FALSE(mounts) << text;
        EXPECT_NE(mounts.error().detail.find("--container-mounts="), std::string::npos);
    }
}

std::string source_of_image(std::string_view image) {
    const Result<std::string> source = image_source(image);
    return source ? *source : source.error().detail;
}

TEST(ContainerSetup, ImagesComeFromRegistriesAndFiles) {
    EXPECT_EQ(source_of_image("ubuntu:22.04"), "docker://ubuntu:22.04");
    EXPECT_EQ(source_of_image("nvcr.io#nvidia/pytorch:24.01"),
              "docker://nvcr.io/nvidia/pytorch:24.01");
    EXPECT_EQ(source_of_image("/data/x.tar"), "docker-archive:/data/x.tar");
    EXPECT_EQ(source_of_image("/data/x"), "oci:/data/x");
    EXPECT_EQ(source_of_image("oci:/data/x:v2"), "oci:/data/x:v2");
    for (const char* text : {"", "./x.tar", "oci:x", "x.sqsh", "--help"}) {
        EXPECT_FALSE(image_source(text)) << text;
    }
}

}  // namespace
}  // namespace sluice
