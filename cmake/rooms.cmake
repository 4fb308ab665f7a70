# A room is one folder of src/ and one library. It sees the headers of the rooms it names, and no
# others: each room's include directory holds a single link to its own folder, so that
# `#include "core/cluster.h"` compiles only where `core` is a dependency.

function(sluice_include_dir room out)
    set(dir ${CMAKE_BINARY_DIR}/rooms/${room})
    file(MAKE_DIRECTORY ${dir})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${dir}/${room} SYMBOLIC)
    set(${out} ${dir} PARENT_SCOPE)
endfunction()

# What nearly every file includes, parsed once for each target that is large enough to gain by it, with the headers of
# the room that most of its files include.
set(sluice_common_headers <algorithm> <chrono> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string>
    <string_view> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
function(sluice_precompile target sources)
    list(LENGTH sources count)
    if(count GREATER 5)
        target_precompile_headers(${target} PRIVATE ${sluice_common_headers} ${ARGN})
    endif()
endfunction()

# Headers that are made by the build, which clang-tidy must find: cmake --build build --target generated
add_custom_target(generated)
function(sluice_generated target)
    add_custom_target(${target}_generated DEPENDS ${ARGN})
    add_dependencies(generated ${target}_generated)
endfunction()

# What ctest runs: cmake --build build --target checks
add_custom_target(checks)

# sluice_room(NAME [TOGETHER | BY_FOLDER [APART folder...]] [ROOMS other...] [LIBS library...] [PRECOMPILE header...])
# Every *.cc is part of the library, except main*.cc, *_test.cc and *_bench.cc.
# TOGETHER: its files take longer to parse their headers than to compile, so several are compiled
# as one. Names without linkage must then differ within the room.
# BY_FOLDER: the same for the files of each folder of the room, except those that APART names.
function(sluice_room room)
    cmake_parse_arguments(ARG "TOGETHER;BY_FOLDER" "" "APART;ROOMS;LIBS;PRECOMPILE" ${ARGN})
    list(TRANSFORM ARG_PRECOMPILE REPLACE "(.+)" "<\\1>")
    if(ARG_TOGETHER AND SLUICE_UNITY)
        set(CMAKE_UNITY_BUILD ON)
        set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
        # GCC takes a file that is compiled with others for a header, in which lambdas would be a mistake.
        add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    sluice_include_dir(${room} include)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
    set(all ${sources})
    set(tests ${sources})
    list(FILTER sources EXCLUDE REGEX "/main[^/]*\\.cc$|_test\\.cc$|_bench\\.cc$")
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")
    if(sources)
        add_library(${room} STATIC ${sources})
        target_include_directories(${room} PUBLIC ${include})
        target_link_libraries(${room} PUBLIC ${ARG_ROOMS} ${ARG_LIBS})
        sluice_precompile(${room} "${sources}" ${ARG_PRECOMPILE})
        if(ARG_BY_FOLDER AND SLUICE_UNITY)
            set_target_properties(${room} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
            target_compile_options(${room} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
            foreach(source ${sources})
                get_filename_component(folder ${source} DIRECTORY)
                get_filename_component(folder ${folder} NAME)
                if(folder IN_LIST ARG_APART)
                    set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
                else()
                    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
                endif()
            endforeach()
        endif()
    else()
        add_library(${room} INTERFACE)
        target_include_directories(${room} INTERFACE ${include})
        target_link_libraries(${room} INTERFACE ${ARG_ROOMS} ${ARG_LIBS})
    endif()
    if(tests AND SLUICE_TESTS)
        add_executable(${room}_test ${tests})
        target_link_libraries(${room}_test PRIVATE ${room} GTest::gtest_main rapidcheck)
        target_precompile_headers(${room}_test PRIVATE ${sluice_common_headers} ${ARG_PRECOMPILE} <gtest/gtest.h>)
        # Takes half the time to compile, hardly more to run. Fortified functions need optimization.
        target_compile_options(${room}_test PRIVATE -O0 -U_FORTIFY_SOURCE)
        add_test(NAME ${room} COMMAND ${room}_test)
        add_dependencies(checks ${room}_test)
    endif()
    # Benchmarks are built on demand: cmake --build build --target <room>_bench
    set(benches ${all})
    list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
    if(benches AND SLUICE_TESTS)
        find_package(benchmark REQUIRED)
        add_executable(${room}_bench EXCLUDE_FROM_ALL ${benches})
        target_link_libraries(${room}_bench PRIVATE ${room} benchmark::benchmark GTest::gtest)
    endif()
endfunction()

# All that is installed, and nothing for tests: cmake --build build --target programs
add_custom_target(programs)

# sluice_program(NAME [STATIC] SOURCES file... DESTINATION bin|sbin|libexec/sluice ROOMS room... [LIBS library...])
# Our own libraries and the C++ runtime are linked statically: each shared library costs a tool a part of a millisecond at
# its start. The C library is shared, because NSS and libmunge are loaded into it; a STATIC program can use neither.
function(sluice_program name)
    cmake_parse_arguments(ARG "STATIC" "DESTINATION" "SOURCES;ROOMS;LIBS" ${ARGN})
    set(target ${name})
    if(ARG_STATIC)
        set(target ${name}_static)
    endif()
    add_executable(${target} ${ARG_SOURCES})
    target_link_libraries(${target} PRIVATE ${ARG_ROOMS} ${ARG_LIBS})
    if(ARG_STATIC)
        # At a fixed address: relocations would take a third of its time.
        target_link_options(${target} PRIVATE -static)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    elseif(NOT SLUICE_SANITIZE)
        target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${ARG_DESTINATION})
    install(TARGETS ${target} DESTINATION ${ARG_DESTINATION})
    add_dependencies(programs ${target})
endfunction()
