// Text files of data/ and docs/ that are compiled into the library (cmake/EmbedText.cmake).
#pragma once

#include <span>
#include <string_view>

namespace gambrel {

struct EmbeddedText {
    std::string_view name;  // the file's name without folder and extension
    std::string_view text;
};

std::span<const EmbeddedText> embedded_machines();
std::span<const EmbeddedText> embedded_metrics();
std::span<const EmbeddedText> embedded_metric_facts();
std::span<const EmbeddedText> embedded_costs();
std::span<const EmbeddedText> embedded_cli();
std::span<const EmbeddedText> embedded_kernels();
std::span<const EmbeddedText> embedded_page();  // web/: shell (HTML), style (CSS), page (the bundled script)

}  // namespace gambrel
