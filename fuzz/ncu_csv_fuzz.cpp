#include "reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gambrel::ingest_detail;
    return gambrel::fuzz::run(data, size, is_ncu_csv, read_ncu_csv);
}
