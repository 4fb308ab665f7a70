# The outside libraries, all from Debian (packaging/debian-packages lists them). Those that the
# command line tools need are linked statically.

find_package(PkgConfig REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

find_library(PROTOBUF_LITE_STATIC NAMES libprotobuf-lite.a REQUIRED)
add_library(protobuf_lite INTERFACE)
target_link_libraries(protobuf_lite INTERFACE ${PROTOBUF_LITE_STATIC} Threads::Threads)

pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(POSTGRESQL REQUIRED libpq)  # loaded when used: see src/sql
pkg_check_modules(MARIADB REQUIRED libmariadb)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
# Not by its own flags, which would make programs look for it in a fixed directory.
pkg_check_modules(PMIX REQUIRED pmix>=4)
find_library(PMIX_LIBRARY pmix PATHS ${PMIX_LIBRARY_DIRS} REQUIRED)
add_library(pmix_library INTERFACE)
target_include_directories(pmix_library SYSTEM INTERFACE ${PMIX_INCLUDE_DIRS})
target_link_libraries(pmix_library INTERFACE ${PMIX_LIBRARY})
# Static, as all that command line tools need.
find_path(LZ4_INCLUDE_DIR lz4.h REQUIRED)
find_library(LZ4_STATIC NAMES liblz4.a REQUIRED)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)

if(SLUICE_TESTS)
    find_package(GTest REQUIRED)
    find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
    add_library(rapidcheck INTERFACE)
    target_link_libraries(rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
endif()
