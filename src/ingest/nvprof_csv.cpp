// The CSV tables of nvprof: summaries of metrics and events, the timing summary, and traces with one row per launch.
#include <unordered_map>

#include <fmt/format.h>

#include "ingest/launch_builder.hpp"
#include "ingest/nvprof_columns.hpp"

namespace gambrel::ingest_detail {

namespace {

bool is_nvprof_header(const CsvHeader& header) { return nvprof_columns(header).has_value(); }

class NvprofCsv {
public:
    NvprofCsv(std::string_view text, const ReadRequest& request)
        : metrics_(request.metrics), scanner_(text), text_(text), notes_(request.source), builder_(profile_, request) {
        profile_.source = request.source;
        profile_.tool = "nvprof";
        time_ = metrics_.find("nvprof:time");
    }

    std::optional<Profile> read() {
        bool any = false;
        while (!scanner_.at_end()) {
            const std::string_view line = scanner_.line();
            if (line.starts_with("==")) {
                api_ = line.ends_with("API calls:") || (api_ && !line.ends_with("result:"));
            } else if (may_be_header(line)) {
                if (const auto header = header_in_line(text_, scanner_.position(), is_nvprof_header)) {
                    scanner_.seek(header->end);
                    begin_table(*header);
                    any = true;
                    continue;
                }
            }
            if (any && !line.starts_with("==") && !line.empty())
                read_row();
            else
                scanner_.skip_line();
        }
        if (!any) return std::nullopt;
        if (others_ > 0)
            notes_.add_once("others", fmt::format("{} rows are copies and API calls, not kernels", others_));
        builder_.finish();
        notes_.finish(profile_);
        return std::move(profile_);
    }

    static bool may_be_header(std::string_view line) {
        for (const std::string_view word : {"Invocations", "Time(%)", "Duration", "Context"}) {
            if (line.find(word) != std::string_view::npos) return true;
        }
        return false;
    }

private:
    void begin_table(const CsvHeader& header);
    void read_row();
    bool take_units();
    void read_summary();
    void read_trace();
    std::size_t summary_launch(const LaunchBuilder::Name& name, Symbol device, std::uint64_t times);
    std::optional<double> value(std::string_view metric, std::string_view text, std::string_view unit);
    void add(std::size_t launch, MetricId metric, std::string_view name, std::string_view text, std::string_view unit) {
        if (metric == kNoMetric) return;
        if (const auto v = value(name, text, unit)) builder_.add_value(launch, metric, *v);
    }
    [[nodiscard]] std::string_view field(std::size_t column) const {
        return column < row_.fields.size() ? row_.fields[column] : std::string_view{};
    }
    [[nodiscard]] std::string_view unit(std::size_t column) const {
        return column < units_.size() ? std::string_view(units_[column]) : std::string_view{};
    }
    [[nodiscard]] Symbol device() const {
        std::string_view text = field(columns_.device);
        if (text.ends_with(')')) text = text.substr(0, text.rfind(" ("));  // "Tesla V100S-PCIE-32GB (0)"
        return Symbol(text);
    }
    MetricId metric_of(std::string_view column) { return metrics_.find(fmt::format("nvprof:{}", column)); }

    const MetricSet& metrics_;
    CsvScanner scanner_;
    std::string_view text_;
    Profile profile_;
    RowNotes notes_;
    LaunchBuilder builder_;
    NvprofColumns columns_;
    CsvRow row_;
    std::vector<std::string> names_, units_;
    std::vector<MetricId> wanted_;                                              // by column, in a trace
    std::unordered_map<const std::string*, std::vector<std::size_t>> by_name_;  // summary launches
    MetricId time_ = kNoMetric;
    std::uint64_t others_ = 0;
    bool api_ = false, first_row_ = false;
};

void NvprofCsv::begin_table(const CsvHeader& header) {
    columns_ = *nvprof_columns(header);
    names_ = header.columns;
    units_.clear();
    first_row_ = true;
    wanted_.assign(names_.size(), kNoMetric);
    if (columns_.table != NvprofTable::trace) return;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        wanted_[i] = metric_of(nvprof_metric(names_[i]));
    }
}

// The row under the header of a time table has units and no name; the units of Avg, Min and Max may differ.
bool NvprofCsv::take_units() {
    const bool units = first_row_ && columns_.table != NvprofTable::metrics && field(columns_.name).empty();
    first_row_ = false;
    if (units) units_.assign(row_.fields.begin(), row_.fields.end());
    return units;
}

void NvprofCsv::read_row() {
    const std::size_t begin = scanner_.position();
    if (!scanner_.read(row_)) {
        notes_.lose(scanner_.line_number(begin),
                    fmt::format("row is cut off or broken: {}", scanner_.line().substr(0, 60)));
        scanner_.skip_line();
        return;
    }
    if (row_.fields.size() != columns_.count) {
        // A line without a quote or a comma is what the program printed.
        if (row_.fields.size() > 1 || text_[begin] == '"') {
            const std::string what =
                fmt::format("row has {} fields, its header {}; passed over", row_.fields.size(), columns_.count);
            if (scanner_.at_end() && text_.back() != '\n')
                notes_.lose(scanner_.line_number(begin), what + ". The file is cut off here");
            else
                notes_.add(scanner_.line_number(begin), what);
        }
        return;
    }
    if (take_units()) return;
    const std::string_view name = field(columns_.name);
    if (name.empty()) return;
    if (api_ || name.starts_with("[CUDA ") ||
        (columns_.type != NvprofColumns::npos && field(columns_.type) != "GPU activities")) {
        ++others_;
        return;
    }
    if (columns_.table == NvprofTable::trace)
        read_trace();
    else
        read_summary();
}

std::size_t NvprofCsv::summary_launch(const LaunchBuilder::Name& name, Symbol device, std::uint64_t times) {
    std::vector<std::size_t>& same = by_name_[&name.symbol.str()];
    for (const std::size_t launch : same) {
        Launch& known = builder_.at(launch);
        if (!known.device.empty() && !device.empty() && known.device != device) continue;
        if (known.device.empty()) known.device = device;
        return launch;
    }
    Launch launch;
    launch.name = name.symbol;
    launch.device = device;
    launch.launches = times;
    same.push_back(builder_.add(std::move(launch)));
    return same.back();
}

void NvprofCsv::read_summary() {
    const LaunchBuilder::Name& name = builder_.name(field(columns_.name));
    if (!name.kept) {
        if (by_name_.emplace(&name.symbol.str(), std::vector<std::size_t>{}).second) builder_.count_filtered();
        return;
    }
    const NumberText times = number_from(field(columns_.times));
    const bool counted = times.value >= 1 && times.value < 1e15;
    const std::size_t launch = summary_launch(name, device(), counted ? static_cast<std::uint64_t>(times.value) : 1);
    if (columns_.table == NvprofTable::metrics) {
        const std::string_view metric = field(columns_.metric);
        add(launch, metric_of(metric), metric, field(columns_.average), "");
    } else if (unit(columns_.average).empty()) {
        notes_.add_once("no units", "no line of units under the header: times are not read");
    } else {
        add(launch, time_, "time", field(columns_.average), unit(columns_.average));
    }
}

void NvprofCsv::read_trace() {
    std::string_view text = field(columns_.name);
    // "kernel(float*) [105]": the number counts calls, so it would make every launch a kernel of its own.
    const std::size_t bracket = text.rfind(" [");
    if (text.ends_with(']') && bracket != std::string_view::npos &&
        text.find_first_not_of("0123456789", bracket + 2) == text.size() - 1) {
        text = text.substr(0, bracket);
    }
    const LaunchBuilder::Name& name = builder_.name(text);
    if (!name.kept) return builder_.count_filtered();
    Launch launch;
    launch.name = name.symbol;
    launch.device = device();
    const auto dims = [&](std::size_t i) {
        return fmt::format("{},{},{}", field(columns_.shape[i]), field(columns_.shape[i + 1]),
                           field(columns_.shape[i + 2]));
    };
    launch.shape = shape_from(dims(0), dims(3));
    const std::size_t index = builder_.add(std::move(launch));
    if (columns_.duration != NvprofColumns::npos && !unit(columns_.duration).empty()) {
        add(index, time_, "time", field(columns_.duration), unit(columns_.duration));
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) add(index, wanted_[i], names_[i], field(i), unit(i));
}

std::optional<double> NvprofCsv::value(std::string_view metric, std::string_view text, std::string_view unit) {
    const NumberText number = number_from(text);
    if (number.kind == NumberText::Kind::missing) return std::nullopt;
    if (number.kind == NumberText::Kind::number) {
        std::string_view suffix = text.substr(number.length);  // 12.34GB/s
        while (suffix.starts_with(' ')) suffix.remove_prefix(1);
        const std::string_view given = suffix.empty() ? unit : suffix;
        const auto factor = base_unit_factor(given, ByteScale::binary);
        if (!factor) {
            notes_.add_once(
                fmt::format("unit {}", given),
                fmt::format("unit \"{}\" of {} is not known; its values are kept as they stand", given, metric));
        }
        return number.value * factor.value_or(1);
    }
    const std::size_t open = text.rfind('(');  // "Low (1)": a level from 0 to 10
    if (open != std::string_view::npos && text.ends_with(')')) {
        const NumberText level = number_from(text.substr(open + 1));
        if (level.kind == NumberText::Kind::number) return level.value;
    }
    if (number.kind == NumberText::Kind::malformed) {
        notes_.add_once(fmt::format("value {}", metric),
                        fmt::format("{}: \"{}\" is not a number; it is read as nan", metric, text.substr(0, 60)));
    }
    return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

bool is_nvprof_csv(std::string_view text) {
    // ncu shows itself in its first lines, whereas to say no here takes the whole file.
    if (looks_binary(text) || is_ncu_csv(text)) return false;
    text = without_bom(text);
    if (text.find("NVPROF is profiling process") != std::string_view::npos) return true;
    for (CsvScanner scanner(text); !scanner.at_end(); scanner.skip_line()) {
        if (!NvprofCsv::may_be_header(scanner.line())) continue;
        if (header_in_line(text, scanner.position(), is_nvprof_header)) return true;
    }
    return false;
}

Result<Profile> read_nvprof_csv(std::string_view text, const ReadRequest& request) {
    text = without_bom(text);
    if (auto profile = NvprofCsv(text, request).read()) return std::move(*profile);
    const std::string said = first_words(text);
    return failure(request.source,
                   said.empty() ? "is empty; expected a table of nvprof --csv"
                                : fmt::format("holds no table, but \"{}\"; expected the output of nvprof --csv: a "
                                              "header line with \"Kernel\" or \"Name\"",
                                              said));
}

}  // namespace gambrel::ingest_detail
