// Any bytes are views of a page or Errors; what was accepted is a page again, with the same views.
#include <cstdint>
#include <cstdlib>

#include <gambrel/report.hpp>

using namespace gambrel;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto read = read_page(text, "fuzz.html");
    if (!read) {
        if (read.error().empty()) std::abort();
        return 0;
    }
    PageInput input;
    for (const SavedView& saved : *read) {
        PageView view;
        view.title = saved.title, view.saved = saved;
        input.views.push_back(std::move(view));
    }
    const auto again = read_page(*html_page(input), "again.html");
    if (!again || again->size() != read->size()) std::abort();
    return 0;
}
