// Text as readers of tables compare it. Not for people: case is folded by ASCII alone.
#pragma once

#include <string>
#include <string_view>

namespace gambrel::network_detail {

inline std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

}  // namespace gambrel::network_detail
