// What C++ programs link beside the standard library: exceptions that are thrown end the program,
// since this target has none, nothing can be started, and the streams of files, without which the
// library is built here.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <typeinfo>

extern "C" {

void *__cxa_allocate_exception(size_t size) noexcept { return malloc(size ? size : 1); }

void __cxa_free_exception(void *) noexcept {}

[[noreturn]] void __cxa_throw(void *, std::type_info *type, void (*)(void *)) {
    fprintf(stderr, "terminate called after throwing an instance of '%s'\n", type->name());
    abort();
}

[[noreturn]] void __cxa_rethrow() {
    fprintf(stderr, "terminate called without an active exception\n");
    abort();
}

}

template class std::basic_filebuf<char>;
template class std::basic_ifstream<char>;
template class std::basic_ofstream<char>;
template class std::basic_fstream<char>;
