#include <cmath>
#include <memory>

#include <cairo-pdf.h>
#include <cairo.h>
#include <fmt/format.h>
#include <librsvg/rsvg.h>
#include <zlib.h>

#include <gambrel/report.hpp>

namespace gambrel {
namespace {

template <class T, void (*Release)(T*)>
struct Releaser {
    void operator()(T* p) const { Release(p); }
};
void unref_handle(RsvgHandle* handle) { g_object_unref(handle); }
using Handle = std::unique_ptr<RsvgHandle, Releaser<RsvgHandle, unref_handle>>;
using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_t, cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Releaser<cairo_t, cairo_destroy>>;
using GErrorPtr = std::unique_ptr<GError, Releaser<GError, g_error_free>>;

struct Drawing {
    Handle handle;
    double width = 0, height = 0;  // CSS pixels
};

std::string message(GError* raw) {
    const GErrorPtr error(raw);
    return error ? error->message : "unknown error of librsvg";
}

Result<Drawing> parsed(const std::string& svg) {
    GError* error = nullptr;
    Drawing drawing;
    drawing.handle.reset(rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error));
    if (!drawing.handle) return failure("svg", fmt::format("cannot be parsed: {}", message(error)));
    rsvg_handle_set_dpi(drawing.handle.get(), 96);
    if (!rsvg_handle_get_intrinsic_size_in_pixels(drawing.handle.get(), &drawing.width, &drawing.height) ||
        !(drawing.width >= 1) || !(drawing.height >= 1))
        return failure("svg", "has no size in pixels; expected width and height on the root element");
    return drawing;
}

Result<void> drawn(const Drawing& drawing, cairo_surface_t* surface, double scale) {
    const Context context(cairo_create(surface));
    cairo_scale(context.get(), scale, scale);
    const RsvgRectangle viewport{0, 0, drawing.width, drawing.height};
    GError* error = nullptr;
    if (!rsvg_handle_render_document(drawing.handle.get(), context.get(), &viewport, &error))
        return failure("svg", fmt::format("cannot be drawn: {}", message(error)));
    if (const auto status = cairo_status(context.get()); status != CAIRO_STATUS_SUCCESS)
        return failure("svg", fmt::format("cannot be drawn: {}", cairo_status_to_string(status)));
    return {};
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
}

// The mark by which the writer of files knows our pictures. Chunk: length, type, data, CRC of type and data.
std::string with_software_chunk(std::string png) {
    using namespace std::string_view_literals;
    constexpr std::size_t kAfterHeader = 8 + 25;  // signature, IHDR
    constexpr std::string_view kChunk = "\0\0\0\x10tEXtSoftware\0gambrel"sv;
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(kChunk.data() + 4), kChunk.size() - 4);
    std::string chunk(kChunk);
    for (const int shift : {24, 16, 8, 0}) chunk += static_cast<char>(crc >> shift & 0xff);
    return png.insert(kAfterHeader, chunk);
}

}  // namespace

Result<std::string> svg_to_png(const std::string& svg, double scale) {
    auto drawing = parsed(svg);
    if (!drawing) return tl::unexpected(drawing.error());
    const double width = std::round(drawing->width * scale), height = std::round(drawing->height * scale);
    constexpr double kMost = 32767;  // cairo's image surfaces end here
    if (!(width >= 1 && height >= 1 && width <= kMost && height <= kMost))
        return failure("png", fmt::format("{} x {} pixels at scale {}; expected 1 to {}", width, height, scale, kMost));
    const Surface surface(
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height)));
    if (const auto done = drawn(*drawing, surface.get(), scale); !done) return tl::unexpected(done.error());
    std::string png;
    const auto status = cairo_surface_write_to_png_stream(surface.get(), append, &png);
    if (status != CAIRO_STATUS_SUCCESS) return failure("png", cairo_status_to_string(status));
    return with_software_chunk(std::move(png));
}

Result<std::string> svg_to_pdf(const std::string& svg) {
    auto drawing = parsed(svg);
    if (!drawing) return tl::unexpected(drawing.error());
    constexpr double kPointsPerPixel = 72.0 / 96.0;
    std::string pdf;
    {
        const Surface surface(cairo_pdf_surface_create_for_stream(append, &pdf, drawing->width * kPointsPerPixel,
                                                                  drawing->height * kPointsPerPixel));
        // Without this the file holds the time of its making, and equal input would not give equal bytes.
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
        cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATOR, "gambrel");
        if (const auto done = drawn(*drawing, surface.get(), kPointsPerPixel); !done)
            return tl::unexpected(done.error());
        cairo_surface_finish(surface.get());
        if (const auto status = cairo_surface_status(surface.get()); status != CAIRO_STATUS_SUCCESS)
            return failure("pdf", cairo_status_to_string(status));
    }
    return pdf;
}

}  // namespace gambrel
