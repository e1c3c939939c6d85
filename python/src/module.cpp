#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gambrel/version.hpp>

#include "base/output_file.hpp"
#include "results.hpp"

namespace gambrel::python {
namespace {

TextStyle text_style(std::optional<int> width, bool color, std::size_t rows, bool explain) {
    TextStyle style;
    winsize size{};
    if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        style.width = size.ws_col;
    if (const char* columns = std::getenv("COLUMNS"); columns && std::atoi(columns) > 0)
        style.width = std::atoi(columns);
    style.width = std::clamp(width.value_or(style.width), 40, 250);
    style.color = color;
    style.max_rows = rows;
    style.explain = explain;
    return style;
}

ChartStyle chart_style(bool dark) {
    ChartStyle style;
    style.theme = dark ? Theme::dark : Theme::light;
    return style;
}

std::string page_of(const Document& document, bool dark) {
    return checked(document.page({"import gambrel", dark ? Theme::dark : Theme::light}));
}

// For an attribute in double quotes.
std::string escaped(const std::string& html) {
    std::string out;
    out.reserve(html.size() + html.size() / 8);
    for (const char c : html) {
        if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

// The page in a frame that may run its own scripts and reach nothing of the notebook. GAMBREL_REPR=svg: for places that
// strip scripts.
std::optional<std::string> notebook_html(const Document& document) {
    const char* wish = std::getenv("GAMBREL_REPR");
    if (wish && std::string_view(wish) == "svg") return std::nullopt;
    const auto page = document.page({"import gambrel", Theme::light});
    if (!page) return std::nullopt;
    return "<iframe sandbox=\"allow-scripts allow-downloads\" width=\"100%\" height=\"720\" style=\"border:0\" "
           "srcdoc=\"" +
           escaped(*page) + "\"></iframe>";
}

std::string rendered(const Document& document, const std::string& path, bool dark) {
    const auto ends = [&](const char* extension) { return path.ends_with(extension); };
    if (ends(".html")) return page_of(document, dark);
    if (ends(".csv")) return document.csv();
    if (ends(".json")) return document.json();
    if (ends(".txt")) return document.text(text_style(100, false, 1'000'000, false));
    if (!ends(".svg") && !ends(".png") && !ends(".pdf"))
        fail(path, "expected a name that ends in .html, .svg, .png, .pdf, .csv, .json or .txt");
    const std::string svg = checked(document.svg(chart_style(dark)));
    return ends(".svg") ? svg : checked(ends(".png") ? svg_to_png(svg) : svg_to_pdf(svg));
}

void save(const Document& document, const std::string& path, bool dark, bool force) {
    base_detail::OutputGuard guard;
    guard.forced_by("force=True");
    if (force) guard.force();
    if (auto written = base_detail::write_file(path, rendered(document, path, dark), guard); !written)
        throw Failure(std::move(written.error()));
}

nb::list column_list(const Column& column, const nb::object& absent) {
    nb::list list;
    std::visit(
        [&](const auto& values) {
            for (const auto& v : values) {
                if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::int64_t>)
                    list.append(v);
                else if (v)
                    list.append(nb::cast(*v));
                else
                    list.append(absent);
            }
        },
        column.values);
    return list;
}

nb::dict columns_of(const Document& document, bool nan) {
    nb::dict columns;
    for (const Column& column : document.table().columns) {
        const bool number = std::holds_alternative<Numbers>(column.values);
        columns[column.name.c_str()] = column_list(column, nan && number ? nb::cast(std::nan("")) : nb::none());
    }
    return columns;
}

void bind_documents(nb::module_& m) {
    nb::class_<Document>(m, "Result", "What every result is: text, CSV, JSON, SVG, a page, and an Arrow table.")
        .def(
            "text",
            [](const Document& d, std::optional<int> width, bool color, std::size_t rows, bool explain) {
                return d.text(text_style(width, color, rows, explain));
            },
            "width"_a = nb::none(), "color"_a = false, "rows"_a = 30, "explain"_a = false,
            "The table that the command line prints.")
        .def("to_csv", &Document::csv, "The same CSV as --csv: base units, empty where unknown.")
        .def("to_json", &Document::json, "The same JSON as --json.")
        .def(
            "to_svg", [](const Document& d, bool dark) { return checked(d.svg(chart_style(dark))); }, "dark"_a = false,
            "The chart as one SVG.")
        .def("to_html", &page_of, "dark"_a = false, "One self-contained interactive page.")
        .def("save", &save, "path"_a, "dark"_a = false, "force"_a = false,
             "Writes .html, .svg, .png, .pdf, .csv, .json or .txt, by the file's extension. A file that gambrel did "
             "not write "
             "is replaced only with force.")
        .def(
            "to_dict", [](const Document& d) { return columns_of(d, false); },
            nb::sig("def to_dict(self) -> dict[str, list[float | int | str | None]]"),
            "The table by columns, None where unknown.")
        .def(
            "to_pandas",
            [](const Document& d) { return nb::module_::import_("pandas").attr("DataFrame")(columns_of(d, true)); },
            nb::sig("def to_pandas(self) -> typing.Any"), "The table as a pandas.DataFrame, NaN where unknown.")
        .def(
            "to_polars", [](nb::handle self) { return nb::module_::import_("polars").attr("DataFrame")(self); },
            nb::sig("def to_polars(self) -> typing.Any"), "The table as a polars.DataFrame.")
        .def(
            "__arrow_c_stream__",
            [](const Document& d, const nb::object&) {
                return nb::capsule(new_arrow_stream(d.table()), "arrow_array_stream",
                                   [](void* stream) noexcept { free_arrow_stream(stream); });
            },
            "requested_schema"_a = nb::none(),
            nb::sig("def __arrow_c_stream__(self, requested_schema: object | None = None) -> object"),
            "The table by the Arrow PyCapsule protocol.")
        .def("__repr__", [](const Document& d) { return d.text(text_style({}, false, 30, false)); })
        .def("_repr_html_", &notebook_html)
        .def("_repr_svg_", [](const Document& d) {
            const auto svg = d.svg({});
            return svg ? std::optional(*svg) : std::nullopt;
        });
    nb::class_<Error>(m, "Note", "Something that the reader of a result should know, and where it was found.")
        .def_ro("where", &Error::where)
        .def_ro("what", &Error::what)
        .def("__repr__", [](const Error& e) { return to_text(e); });
}

void raise(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
        nb::list faults;
        for (const Error& e : failure.errors) faults.append(nb::make_tuple(e.where, e.what));
        const nb::object type = nb::module_::import_("gambrel._errors").attr("Error");
        PyErr_SetObject(type.ptr(), type(faults).ptr());
    }
}

}  // namespace
}  // namespace gambrel::python

NB_MODULE(_core, m) {
    using namespace gambrel::python;
    m.doc() = "The library of gambrel. Use it through the package gambrel.";
    m.attr("__version__") = gambrel::kVersion;
    nb::register_exception_translator(raise);
    bind_documents(m);
    bind_machines(m);
    bind_kernels(m);
    bind_timelines(m);
    bind_runs(m);
    bind_layers(m);
    bind_predictions(m);
    bind_comparisons(m);
    bind_explorations(m);
    bind_measurements(m);
}
