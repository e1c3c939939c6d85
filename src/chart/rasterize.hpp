// The functions of librsvg and cairo that make PNG and PDF, opened at run time: a login node without them still runs
// gambrel, and writes .svg. Their types are opaque here, so that no header of theirs is needed to build.
#pragma once

#include <cstddef>

#include <gambrel/base.hpp>

namespace gambrel::chart_detail {

// As librsvg 2.52, GLib 2 and cairo 1.16 declare them; their interfaces are stable.
struct RsvgHandle;
struct cairo_t;
struct cairo_surface_t;
struct GError {
    unsigned domain;
    int code;
    char* message;
};
struct RsvgRectangle {
    double x, y, width, height;
};
inline constexpr int kArgb32 = 0;                    // CAIRO_FORMAT_ARGB32
inline constexpr int kCreator = 4, kCreateDate = 5;  // CAIRO_PDF_METADATA_*
using WriteFunction = int (*)(void* closure, const unsigned char* data, unsigned length);

struct DrawingLibrary {
    RsvgHandle* (*rsvg_handle_new_from_data)(const unsigned char*, std::size_t, GError**) = nullptr;
    void (*rsvg_handle_set_dpi)(RsvgHandle*, double) = nullptr;
    int (*rsvg_handle_get_intrinsic_size_in_pixels)(RsvgHandle*, double*, double*) = nullptr;
    int (*rsvg_handle_render_document)(RsvgHandle*, cairo_t*, const RsvgRectangle*, GError**) = nullptr;
    void (*g_object_unref)(void*) = nullptr;
    void (*g_error_free)(GError*) = nullptr;
    cairo_t* (*cairo_create)(cairo_surface_t*) = nullptr;
    void (*cairo_destroy)(cairo_t*) = nullptr;
    void (*cairo_scale)(cairo_t*, double, double) = nullptr;
    int (*cairo_status)(cairo_t*) = nullptr;
    const char* (*cairo_status_to_string)(int) = nullptr;
    cairo_surface_t* (*cairo_image_surface_create)(int, int, int) = nullptr;
    int (*cairo_surface_write_to_png_stream)(cairo_surface_t*, WriteFunction, void*) = nullptr;
    cairo_surface_t* (*cairo_pdf_surface_create_for_stream)(WriteFunction, void*, double, double) = nullptr;
    void (*cairo_pdf_surface_set_metadata)(cairo_surface_t*, int, const char*) = nullptr;
    void (*cairo_surface_finish)(cairo_surface_t*) = nullptr;
    int (*cairo_surface_status)(cairo_surface_t*) = nullptr;
    void (*cairo_surface_destroy)(cairo_surface_t*) = nullptr;
};
// Stays open. An error names what is missing and the package that has it.
Result<DrawingLibrary> load_drawing_library(const char* file);

}  // namespace gambrel::chart_detail
