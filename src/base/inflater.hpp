// zlib's state for one gzip stream after another.
#pragma once

#include <zlib.h>

namespace gambrel::base_detail {

struct Inflater {
    z_stream stream{};
    bool ready = false;
    Inflater() { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }  // 15: largest window, +16: gzip, not zlib
    ~Inflater() {
        if (ready) inflateEnd(&stream);
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
};

}  // namespace gambrel::base_detail
