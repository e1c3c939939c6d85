#include "chart/rasterize.hpp"

#include <dlfcn.h>

#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>

#include <gambrel/chart.hpp>

namespace gambrel {
namespace {

using namespace chart_detail;

// Closes over the library's functions, so that each kind of object has one way to be released.
template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

struct Drawing {
    const DrawingLibrary* lib;
    Owned<RsvgHandle> handle;
    double width = 0, height = 0;  // CSS pixels
};

std::string message(const DrawingLibrary& lib, GError* raw) {
    const Owned<GError> error(raw, lib.g_error_free);
    return error ? error->message : "unknown error of librsvg";
}

Result<Drawing> parsed(const std::string& svg) {
    static const Result<DrawingLibrary> library = load_drawing_library("librsvg-2.so.2");
    if (!library) return tl::unexpected(library.error());
    const DrawingLibrary& lib = *library;
    GError* error = nullptr;
    Drawing drawing{
        &lib,
        {lib.rsvg_handle_new_from_data(reinterpret_cast<const unsigned char*>(svg.data()), svg.size(), &error),
         [](RsvgHandle* handle) { library->g_object_unref(handle); }}};
    if (!drawing.handle) return failure("svg", fmt::format("cannot be parsed: {}", message(lib, error)));
    lib.rsvg_handle_set_dpi(drawing.handle.get(), 96);
    if (!lib.rsvg_handle_get_intrinsic_size_in_pixels(drawing.handle.get(), &drawing.width, &drawing.height) ||
        !(drawing.width >= 1) || !(drawing.height >= 1))
        return failure("svg", "has no size in pixels; expected width and height on the root element");
    return drawing;
}

Result<void> drawn(const Drawing& drawing, cairo_surface_t* surface, double scale) {
    const DrawingLibrary& lib = *drawing.lib;
    const Owned<cairo_t> context(lib.cairo_create(surface), lib.cairo_destroy);
    lib.cairo_scale(context.get(), scale, scale);
    const RsvgRectangle viewport{0, 0, drawing.width, drawing.height};
    GError* error = nullptr;
    if (!lib.rsvg_handle_render_document(drawing.handle.get(), context.get(), &viewport, &error))
        return failure("svg", fmt::format("cannot be drawn: {}", message(lib, error)));
    if (const int status = lib.cairo_status(context.get()); status != 0)
        return failure("svg", fmt::format("cannot be drawn: {}", lib.cairo_status_to_string(status)));
    return {};
}

int append(void* closure, const unsigned char* data, unsigned int length) {
    static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
    return 0;
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

Result<DrawingLibrary> chart_detail::load_drawing_library(const char* file) {
#ifndef GAMBREL_HAVE_PDF
    return failure(file, "this build makes no PNG and no PDF: configure with GAMBREL_PDF=ON, or write an .svg");
#else
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return failure(file,
                       fmt::format("PNG and PDF pictures need librsvg, which cannot be opened ({}). Install it (Debian "
                                   "and Ubuntu: librsvg2-2, Fedora: librsvg2), or write an .svg",
                                   dlerror()));
    DrawingLibrary lib;
    std::string missing;
    // Its dependencies cairo, GObject and GLib are searched too.
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (!function) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    };
#define GAMBREL_FIND(name) find(lib.name, #name)
    GAMBREL_FIND(rsvg_handle_new_from_data), GAMBREL_FIND(rsvg_handle_set_dpi);
    GAMBREL_FIND(rsvg_handle_get_intrinsic_size_in_pixels), GAMBREL_FIND(rsvg_handle_render_document);
    GAMBREL_FIND(g_object_unref), GAMBREL_FIND(g_error_free);
    GAMBREL_FIND(cairo_create), GAMBREL_FIND(cairo_destroy), GAMBREL_FIND(cairo_scale), GAMBREL_FIND(cairo_status);
    GAMBREL_FIND(cairo_status_to_string), GAMBREL_FIND(cairo_image_surface_create);
    GAMBREL_FIND(cairo_surface_write_to_png_stream), GAMBREL_FIND(cairo_pdf_surface_create_for_stream);
    GAMBREL_FIND(cairo_pdf_surface_set_metadata), GAMBREL_FIND(cairo_surface_finish);
    GAMBREL_FIND(cairo_surface_status), GAMBREL_FIND(cairo_surface_destroy);
#undef GAMBREL_FIND
    if (missing.empty()) return lib;
    return failure(file,
                   fmt::format("PNG and PDF pictures need librsvg 2.52 or later; this one does not have {}", missing));
#endif
}

Result<std::string> svg_to_png(const std::string& svg, double scale) {
    auto drawing = parsed(svg);
    if (!drawing) return tl::unexpected(drawing.error());
    const double width = std::round(drawing->width * scale), height = std::round(drawing->height * scale);
    constexpr double kMost = 32767;  // cairo's image surfaces end here
    if (!(width >= 1 && height >= 1 && width <= kMost && height <= kMost))
        return failure("png", fmt::format("{} x {} pixels at scale {}; expected 1 to {}", width, height, scale, kMost));
    const DrawingLibrary& lib = *drawing->lib;
    const Owned<cairo_surface_t> surface(
        lib.cairo_image_surface_create(kArgb32, static_cast<int>(width), static_cast<int>(height)),
        lib.cairo_surface_destroy);
    if (const auto done = drawn(*drawing, surface.get(), scale); !done) return tl::unexpected(done.error());
    std::string png;
    const int status = lib.cairo_surface_write_to_png_stream(surface.get(), append, &png);
    if (status != 0) return failure("png", lib.cairo_status_to_string(status));
    return with_software_chunk(std::move(png));
}

Result<std::string> svg_to_pdf(const std::string& svg) {
    auto drawing = parsed(svg);
    if (!drawing) return tl::unexpected(drawing.error());
    const DrawingLibrary& lib = *drawing->lib;
    constexpr double kPointsPerPixel = 72.0 / 96.0;
    std::string pdf;
    {
        const Owned<cairo_surface_t> surface(
            lib.cairo_pdf_surface_create_for_stream(append, &pdf, drawing->width * kPointsPerPixel,
                                                    drawing->height * kPointsPerPixel),
            lib.cairo_surface_destroy);
        // Without this the file holds the time of its making, and equal input would not give equal bytes.
        lib.cairo_pdf_surface_set_metadata(surface.get(), kCreateDate, "2000-01-01T00:00:00Z");
        lib.cairo_pdf_surface_set_metadata(surface.get(), kCreator, "gambrel");
        if (const auto done = drawn(*drawing, surface.get(), kPointsPerPixel); !done)
            return tl::unexpected(done.error());
        lib.cairo_surface_finish(surface.get());
        if (const int status = lib.cairo_surface_status(surface.get()); status != 0)
            return failure("pdf", lib.cairo_status_to_string(status));
    }
    return pdf;
}

}  // namespace gambrel
