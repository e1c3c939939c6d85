// A text that is read from front to back, of which a window is held: a plain file is mapped, while pipes, devices and
// gzip files are read and unpacked piece by piece, so that they take no more memory than the window.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <gambrel/base.hpp>

namespace gambrel::base_detail {

class TextWindow {
public:
    static Result<TextWindow> open(const std::string& path);
    explicit TextWindow(std::string_view text);  // all of it, which must outlive the window
    TextWindow(TextWindow&&) noexcept;
    TextWindow& operator=(TextWindow&&) noexcept;
    ~TextWindow();

    [[nodiscard]] std::string_view text() const;
    [[nodiscard]] bool reaches_end() const;  // nothing follows text()
    // While text() does not reach the end: drops what lies before `position`, so that text() begins there, and reads on
    // until it has `ahead` bytes or reaches the end. Views into text() are invalid then.
    void advance(std::size_t position, std::size_t ahead);
    // What lies before `position` is not needed any more: pages of a mapped file may leave memory. text() stays.
    void forget_before(std::size_t position);
    // Why the text ended before its end: a read that failed, or gzip that is damaged. Empty: it did not.
    [[nodiscard]] const std::string& fault() const;

private:
    struct Source;
    explicit TextWindow(std::unique_ptr<Source> source);
    std::unique_ptr<Source> source_;
};

}  // namespace gambrel::base_detail
