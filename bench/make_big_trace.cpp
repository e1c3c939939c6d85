// make_big_trace FROM TO BYTES: a trace of at least that size, for timing `gambrel analyze` and other tools on the same
// file.
#include <cstdio>
#include <cstdlib>

#include "big_trace.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: make_big_trace FROM.json[.gz] TO.json BYTES\n");
        return 2;
    }
    gambrel::bench::write_big_trace(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
    return 0;
}
