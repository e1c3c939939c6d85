#include "base/text_window.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/file_bytes.hpp"
#include "base/inflater.hpp"

namespace gambrel::base_detail {

struct TextWindow::Source {
    std::optional<FileBytes> mapped;
    std::string_view given;  // of the caller, or mapped
    Descriptor file{-1};
    std::unique_ptr<Inflater> inflater;  // of gzip
    std::string packed;                  // read, but not unpacked yet
    std::size_t packed_read = 0;         // bytes of gzip that were unpacked
    std::string held;
    std::size_t begin = 0;  // of the window in `held`
    bool file_ended = false, ended = false;
    std::string fault;

    static constexpr std::size_t kStep = std::size_t{1} << 16;

    void stop(std::string why) {
        fault = std::move(why);
        ended = true;
    }

    // Adds what one read gives.
    void read_into(std::string& text) {
        const std::size_t have = text.size();
        text.resize(have + kStep);
        ssize_t got = 0;
        do got = ::read(file.fd, text.data() + have, kStep);
        while (got < 0 && errno == EINTR);
        if (got < 0) stop(fmt::format("cannot be read: {}", system_text()));
        file_ended = got <= 0;
        text.resize(have + static_cast<std::size_t>(file_ended ? 0 : got));
    }

    void read_on() {
        if (inflater) return unpack();
        read_into(held);
        ended = ended || file_ended;
    }

    void unpack() {
        if (packed.empty() && !file_ended) read_into(packed);
        if (ended) return;
        z_stream& z = inflater->stream;
        const std::size_t have = held.size();
        held.resize(have + kStep);
        z.next_in = reinterpret_cast<Bytef*>(packed.data());
        z.avail_in = static_cast<uInt>(packed.size());
        z.next_out = reinterpret_cast<Bytef*>(held.data() + have);
        z.avail_out = static_cast<uInt>(kStep);
        const int status = inflate(&z, Z_NO_FLUSH);
        const std::size_t taken = packed.size() - z.avail_in;
        packed_read += taken;
        packed.erase(0, taken);
        held.resize(have + kStep - z.avail_out);
        if (status == Z_STREAM_END) return next_member();
        if (status != Z_OK && status != Z_BUF_ERROR)
            return stop(fmt::format("gzip: damaged at byte {}: {}", packed_read, z.msg ? z.msg : "bad stream"));
        if (file_ended && packed.empty() && held.size() == have)
            stop(fmt::format("gzip: ends at byte {} inside a stream: the file is truncated", packed_read));
    }

    // `cat a.gz b.gz` makes files of several members; tapes and pipes pad with zeros.
    void next_member() {
        while (!ended) {
            const std::size_t used = packed.find_first_not_of('\0');
            packed.erase(0, used);
            if (packed.size() > 1 || (file_ended && !packed.empty())) break;
            if (file_ended)
                ended = true;
            else
                read_into(packed);
        }
        if (ended) return;
        if (!is_gzip(packed))
            return stop(fmt::format("gzip: byte {}: bytes after the end of the stream that are not gzip", packed_read));
        inflateReset(&inflater->stream);
    }
};

TextWindow::TextWindow(std::unique_ptr<Source> source) : source_(std::move(source)) {}
TextWindow::TextWindow(TextWindow&&) noexcept = default;
TextWindow& TextWindow::operator=(TextWindow&&) noexcept = default;
TextWindow::~TextWindow() = default;

TextWindow::TextWindow(std::string_view text) : source_(std::make_unique<Source>()) {
    source_->given = text;
    source_->ended = true;
}

Result<TextWindow> TextWindow::open(const std::string& path) {
    auto file = open_input(path);
    if (!file) return failure(path, std::move(file.error()));
    auto source = std::make_unique<Source>();
    std::array<char, 2> magic{};
    const bool packed =
        file->regular && ::pread(file->descriptor.fd, magic.data(), 2, 0) == 2 && is_gzip({magic.data(), magic.size()});
    if (file->regular && !packed) {
        auto mapped = FileBytes::open(path);
        if (!mapped) return tl::unexpected(std::move(mapped.error()));
        source->given = mapped->view();
        source->mapped.emplace(std::move(*mapped));
        source->ended = true;
        return TextWindow(std::move(source));
    }
    source->file = std::move(file->descriptor);
    // A writer may begin with a single byte.
    while (!source->file_ended && source->packed.size() < magic.size()) source->read_into(source->packed);
    if (!source->fault.empty()) return failure(path, source->fault);
    if (is_gzip(source->packed)) {
        source->inflater = std::make_unique<Inflater>();
        if (!source->inflater->ready) return failure(path, "gzip: no memory to unpack");
    } else {
        source->held = std::exchange(source->packed, {});
        source->ended = source->file_ended;
    }
    return TextWindow(std::move(source));
}

std::string_view TextWindow::text() const {
    const Source& s = *source_;
    return s.file.fd < 0 ? s.given : std::string_view(s.held).substr(s.begin);
}

bool TextWindow::reaches_end() const { return source_->ended; }
const std::string& TextWindow::fault() const { return source_->fault; }

void TextWindow::advance(std::size_t position, std::size_t ahead) {
    Source& s = *source_;
    if (s.ended) return;
    s.begin += position;
    // Moved only when at least as much is thrown away as is kept, so that every byte moves once.
    if (s.begin >= s.held.size() - s.begin) s.held.erase(0, std::exchange(s.begin, 0));
    while (!s.ended && s.held.size() - s.begin < ahead) s.read_on();
}

void TextWindow::forget_before(std::size_t position) {
    if (source_->mapped) source_->mapped->forget_before(position);
}

}  // namespace gambrel::base_detail
