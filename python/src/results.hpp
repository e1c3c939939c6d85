// What Python holds: results of the library, each of which can be shown as text, CSV, JSON, SVG, a page and a table.
// Invariant: an object owns, or shares, all that it points to, so the order in which Python drops them does not matter.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <gambrel/load.hpp>
#include <gambrel/report.hpp>

#include "arrow.hpp"
#include "watch.hpp"

namespace gambrel::python {

namespace nb = nanobind;
using namespace nb::literals;

using Amounts = std::map<std::string, double>;  // by level, pipe or resource; what is unknown is not in it

inline std::optional<std::string> some(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}
// "" stands for what a caller did not give.
template <class T>
T named(const std::string& text, const char* argument, std::optional<T> (*from)(std::string_view),
        const char* expected) {
    if (const auto found = from(text)) return *found;
    fail(argument, "\"" + text + "\": expected " + expected);
}

// The base of all results.
struct Document {
    Document() = default;
    Document(const Document&) = default;
    Document(Document&&) = default;
    Document& operator=(const Document&) = default;
    Document& operator=(Document&&) = default;
    virtual ~Document() = default;
    [[nodiscard]] virtual std::string text(const TextStyle& style) const = 0;
    [[nodiscard]] virtual std::string csv() const = 0;
    [[nodiscard]] virtual std::string json() const = 0;
    [[nodiscard]] virtual Result<std::string> svg(const ChartStyle& style) const = 0;
    [[nodiscard]] virtual Result<std::string> page(const PageStyle& style) const = 0;
    [[nodiscard]] virtual Table table() const = 0;
};

struct MachineObject : Document {
    explicit MachineObject(std::shared_ptr<const Machine> m) : machine(std::move(m)) {}
    std::shared_ptr<const Machine> machine;
    [[nodiscard]] std::string text(const TextStyle& style) const override;
    [[nodiscard]] std::string csv() const override;
    [[nodiscard]] std::string json() const override;
    [[nodiscard]] Result<std::string> svg(const ChartStyle& style) const override;
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override;
    [[nodiscard]] Table table() const override;
};

// A row of an analysis with its verdict.
struct KernelObject {
    std::shared_ptr<const AnalysisRow> row;
    std::shared_ptr<const Machine> machine;  // null: of several
};

struct AdviceObject {
    Advice advice;
    std::vector<KernelObject> kernels;
};

struct RunObject : Document {
    std::shared_ptr<const Analysis> analysis;
    std::shared_ptr<const Run> run;  // that it was made from
    AnalysisOptions options;

    RunObject(std::shared_ptr<const Run> run, AnalysisOptions options);
    [[nodiscard]] KernelObject kernel(std::size_t row) const;
    [[nodiscard]] std::string text(const TextStyle& style) const override;
    [[nodiscard]] std::string csv() const override;
    [[nodiscard]] std::string json() const override;
    [[nodiscard]] Result<std::string> svg(const ChartStyle& style) const override;
    [[nodiscard]] Result<std::string> page(const PageStyle& style) const override;
    [[nodiscard]] Table table() const override;
};
Grouping grouping_from(const std::string& text);
Roofs roofs_from(const std::string& text);

// Layers, and for a network that came from a framework the module and operator of each layer's name.
struct NetworkObject {
    struct Origin {
        std::string module, op;
    };
    std::shared_ptr<const LayerSet> set;
    std::map<std::string, Origin> origins;
    [[nodiscard]] std::vector<Layer> layers() const { return set->layers(); }
};

// Null: the caller gave none.
inline std::optional<Machine> machine_in(const MachineObject* machine) {
    return machine ? std::optional(*machine->machine) : std::nullopt;
}
inline std::optional<Frequency> clock_in(std::optional<double> hertz) {
    return hertz ? std::optional(Frequency{*hertz}) : std::nullopt;
}

void bind_machines(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_timelines(nb::module_& m);
void bind_runs(nb::module_& m);
void bind_layers(nb::module_& m);
void bind_predictions(nb::module_& m);
void bind_comparisons(nb::module_& m);
void bind_explorations(nb::module_& m);
void bind_measurements(nb::module_& m);

}  // namespace gambrel::python
