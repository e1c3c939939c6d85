// Text files of data/, docs/ and web/ that are compiled into the library (cmake/EmbedText.cmake).
#pragma once

#include <span>
#include <string_view>

namespace gambrel {

struct EmbeddedText {
    std::string_view name;  // the file's name without folder and extension
    std::string_view text;
};

// The files of one set, by the name that CMakeLists.txt gives it: "machines", "cli". Empty if there is no such set.
std::span<const EmbeddedText> embedded(std::string_view set);

}  // namespace gambrel
