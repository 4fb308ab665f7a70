# Compiler and linker defences, for every program. tests/test_hardening.py checks the installed programs for them.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

check_pie_supported()  # with CMAKE_POSITION_INDEPENDENT_CODE: position independent executables
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" have)
    check_cxx_compiler_flag(${flag} ${have})  # the last one is for x86 only
    if(${have})
        add_compile_options(${flag})
    endif()
endforeach()
# Fortified functions need optimization; the sanitizers check more than they do.
if(NOT SLUICE_SANITIZE)
    set(fortify $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>)
    add_compile_options("SHELL:${fortify}")
endif()
add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
