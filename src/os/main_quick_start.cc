// Part of static programs only, on x86-64 and with a C library for which CMake has seen it work.
//
// Before main() glibc asks the processor some 70 times about its caches and features. In a virtual
// machine each of these CPUID instructions is answered by the hypervisor: together they take longer
// than all the rest of a tool's start. So here is a start that does not ask. It brings up the same
// parts of the library in the same order, but for what only dlopen() needs; the string functions
// are then those that every x86-64 has. Being linked first, it keeps the library's own start out of
// the program.
#include <link.h>

#include <cstdint>
#include <cstdlib>

extern "C" {

// The library's own names, which its own start uses.
extern char** __environ;
extern void* __libc_stack_end;
extern const std::uintptr_t* _dl_random;
void _dl_aux_init(ElfW(auxv_t) * first);
void __libc_setup_tls();
void __libc_early_init(bool initial);
void __init_misc(int argc, char** argv, char** environment);
void _init();

// The linker's names for tables in this program.
using Initializer = void (*)(int argc, char** argv, char** environment);
extern const Initializer __preinit_array_start[], __preinit_array_end[];
extern const Initializer __init_array_start[], __init_array_end[];
extern const ElfW(Rela) __rela_iplt_start[], __rela_iplt_end[];

// From which sizes on memcpy() and its like take another way: the library's defaults.
long __x86_data_cache_size = 32 * 1024;
long __x86_data_cache_size_half = 16 * 1024;
long __x86_shared_cache_size = 1024 * 1024;
long __x86_shared_cache_size_half = 512 * 1024;
long __x86_shared_non_temporal_threshold = 768 * 1024;
long __x86_rep_movsb_threshold = 2048;
long __x86_rep_movsb_stop_threshold = 768 * 1024;
long __x86_rep_stosb_threshold = 2048;
int __x86_string_control = 0;
}

namespace {

ElfW(auxv_t) * auxiliary_vector(char** environment) {
    while (*environment) ++environment;
    return reinterpret_cast<ElfW(auxv_t)*>(environment + 1);
}

// Functions of which there are several: each chooses one for this processor, here the plainest.
void choose_functions() {
    for (const ElfW(Rela)* each = __rela_iplt_start; each < __rela_iplt_end; ++each) {
        auto choose = reinterpret_cast<std::uintptr_t (*)()>(each->r_addend);
        *reinterpret_cast<std::uintptr_t*>(each->r_offset) = choose();
    }
}

// What functions compare at their end, and what stored addresses are mixed with. The lowest byte of
// the first is zero, where a text that runs over would end.
void set_guards() {
    const std::uintptr_t stack_guard = _dl_random[0] & ~std::uintptr_t{0xff};
    asm volatile("mov %0, %%fs:0x28" ::"r"(stack_guard));
    asm volatile("mov %0, %%fs:0x30" ::"r"(_dl_random[1]));
}

}  // namespace

// Called by the program's first instructions (crt1.o), as the ABI of x86-64 has it.
extern "C" int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                                 void (*)(), void (*)(), void (*)(), void* stack_end) {
    char** environment = argv + argc + 1;
    __environ = environment;
    __libc_stack_end = stack_end;
    _dl_aux_init(auxiliary_vector(environment));
    choose_functions();
    __libc_setup_tls();
    set_guards();
    __libc_early_init(true);
    __init_misc(argc, argv, environment);
    auto call_each = [&](const Initializer* from, const Initializer* to) {
        for (; from < to; ++from) (*from)(argc, argv, environment);
    };
    call_each(__preinit_array_start, __preinit_array_end);
    _init();
    call_each(__init_array_start, __init_array_end);
    exit(main(argc, argv, environment));
}
