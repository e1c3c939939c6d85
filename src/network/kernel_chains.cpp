// The file is part of the build, so a fault in it is an internal error.
#include "network/kernel_chains.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::network_detail {
namespace {

using Json = nlohmann::json;

struct Chains {
    HostCosts host;
    std::vector<KernelChain> list;
};

[[noreturn]] void fault(const std::string& what) { throw std::logic_error("data/model/kernel_chains.json: " + what); }

// "x/2" is half of a tensor in the operator's precision.
void add_token(std::string_view token, double sign, Moved& to) {
    double amount = sign;
    if (const auto slash = token.find('/'); slash != std::string_view::npos) amount /= token[slash + 1] - '0';
    switch (token.front()) {
        case 'x':
            to.own += amount;
            break;
        case 'f':
            to.wide += amount;
            break;
        case 'r':
            to.rows += amount;
            break;
        case 't':
            to.table += amount;
            break;
        case 'p':
            to.parts += amount;
            break;
        default:
            fault("unknown tensor \"" + std::string(token) + "\"");
    }
}

void read_moves(std::string_view text, ChainKernel& kernel) {
    bool written = false;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const std::string_view token = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (token == "->")
            written = true;
        else if (!token.empty())
            add_token(token, 1, written ? kernel.written : token.ends_with('\'') ? kernel.again : kernel.read);
    }
    if (!written) fault("moves without \"->\"");
}

ChainKernel read_kernel(const Json& json) {
    ChainKernel k;
    if (json.is_string()) {
        read_moves(json.get<std::string>(), k);
        return k;
    }
    read_moves(json.at("moves").get<std::string>(), k);
    k.offsets = json.value("offsets", false);
    k.rows_per_sm = json.value("rows_per_sm", 0.0);
    k.threads_per_sm = json.value("threads_per_sm", 0.0);
    k.one_read_up_to = json.value("one_read_up_to", 0.0);
    if (json.contains("block_threads")) {
        const Json& threads = json.at("block_threads");
        k.block_by_columns = threads == "columns";
        if (!k.block_by_columns) k.block_threads = threads.get<double>();
    }
    k.array_operations = json.value("array_operations", 0.0);
    k.row_step = json.value("row_step", 0.0);
    k.row_waits = json.value("row_waits", 2.0);
    k.rows_share_step = json.value("rows_share_step", false);
    k.column_step = json.value("column_step", 0.0);
    k.lone_rows = json.value("lone_rows", 0.0);
    k.lone_waits = json.value("lone_waits", 0.0);
    k.adds_in_order = json.value("adds", "") == "in order";
    k.adds = k.adds_in_order || json.value("adds", "") == "relaxed";
    if (json.contains("arguments")) k.arguments = json.at("arguments").get<double>();
    return k;
}

std::vector<ChainKernel> read_kernels(const Json& chain, const char* pass) {
    std::vector<ChainKernel> out;
    if (chain.contains(pass))
        for (const Json& kernel : chain.at(pass)) out.push_back(read_kernel(kernel));
    return out;
}

Chains read_chains() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "kernel_chains"; });
    if (file == files.end()) fault("not in the build");
    const Json all = Json::parse(file->text);
    Chains out;
    const Json& host = all.at("host");
    out.host = {Seconds{host.at("operator").get<double>()},
                Seconds{host.at("launch").get<double>()},
                Seconds{host.at("argument").get<double>()},
                Seconds{host.at("autograd").get<double>()},
                Bytes{host.at("cleared").get<double>()},
                host.at("slower_software"),
                host.at("slower")};
    for (const Json& c : all.at("chains"))
        out.list.push_back({c.at("operators").get<std::vector<std::string>>(),
                            c.at("providers").get<std::vector<std::string>>(), read_kernels(c, "forward"),
                            read_kernels(c, "backward"), read_kernels(c, "both"), c.value("with_forward", false),
                            c.value("needs_table", false)});
    return out;
}

const Chains& chains() {
    static const Chains instance = read_chains();
    return instance;
}

bool holds(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// In elements of `precision`.
double elements(const Moved& m, const ChainSize& size, Precision own, Precision precision) {
    const double unit = element_size(precision).value(), wide = element_size(Precision::fp32).value();
    const double tensor = size.rows * size.columns;
    return (m.own * tensor + m.table * size.table + m.parts * size.parts) * (element_size(own).value() / unit) +
           (m.wide * tensor + m.rows * size.rows) * (wide / unit);
}

// Liger's calculate_settings: longer rows have more warps.
double threads_of(const ChainKernel& k, double columns) {
    if (!k.block_by_columns) return k.block_threads;
    return columns >= 32768 ? 1024 : columns >= 8192 ? 512 : columns >= 2048 ? 256 : 128;
}

// Where two arrays of a row take all registers of its threads, every result is stored and loaded again.
double spilled(const ChainKernel& k, const ChainSize& size) {
    constexpr double kRegisters = 255, kRegistersOfSm = 65536, kLongestBlock = 65536;
    const double threads = threads_of(k, size.columns);
    if (threads <= 0) return 0;
    const double held = std::min(size.columns, kLongestBlock) / threads;
    return 2 * held >= std::min(kRegisters, kRegistersOfSm / threads) ? k.array_operations * size.rows * size.columns
                                                                      : 0;
}

Seconds host_of(const ChainKernel& k, Pass pass) {
    const HostCosts& host = host_costs();
    if (!k.arguments) return host.operation;
    return host.launch + *k.arguments * host.argument + (pass == Pass::fwd ? Seconds{} : host.autograd);
}

// The kernel with the tensor that the one before it wrote among those that are read again.
ChainKernel fed(ChainKernel k, const ChainKernel& before, double rows) {
    for (double Moved::*tensor : {&Moved::own, &Moved::wide})
        if (before.written.*tensor >= 1 && k.read.*tensor >= 1) {
            k.read.*tensor -= 1, k.again.*tensor += 1;
            k.rows_per_sm = rows;
            return k;
        }
    return k;
}

}  // namespace

const KernelChain* kernel_chain(std::string_view op, std::string_view provider) {
    for (const KernelChain& c : chains().list)
        if (holds(c.operators, op) && holds(c.providers, provider)) return &c;
    return nullptr;
}

const HostCosts& host_costs() { return chains().host; }

Layer chain_layer(const ChainKernel& kernel, const ChainKernel* before, const ChainSize& size, Layer layer) {
    const bool reads_rows_twice = kernel.rows_per_sm > 0;
    const ChainKernel k = before && !reads_rows_twice ? fed(kernel, *before, size.rows) : kernel;
    const Precision own = layer.precision, wide = Precision::fp32;
    // Reads of two precisions are counted in the wider one.
    const Precision in = kernel.read.wide > 0 ? wide : own, out = k.written.wide > 0 ? wide : own;
    Streaming s;
    s.kind = StreamingKind::elementwise;  // whose bytes are the same in both passes
    double left = elements(k.read, size, own, in);
    for (std::size_t i = 0; i + 1 < s.read.size() && left > 0; ++i)
        left -= s.read[i] = std::min(left, size.rows * size.columns);
    s.read.back() = std::max(0.0, left);
    s.written = elements(k.written, size, own, out);
    s.rows = size.rows;
    if (out != in) s.written_as = out;
    if (!reads_rows_twice || size.columns > k.one_read_up_to) s.read_again = elements(k.again, size, own, in);
    s.rows_per_sm = k.rows_per_sm;
    s.threads_per_sm = k.threads_per_sm;
    s.spilled = spilled(k, size);
    s.row_step = k.row_step, s.row_waits = k.row_step > 0 ? k.row_waits : 0, s.column_step = k.column_step;
    // A block of Triton's has as many short rows as fill it.
    if (k.rows_share_step) s.rows_per_sm *= std::max(1.0, std::floor(k.row_step / size.columns));
    if (k.lone_rows > 0) s.lone_waits = std::ceil(size.rows / k.lone_rows) * k.lone_waits;
    if (k.adds) s.atomics = size.rows * size.columns, s.atomics_ordered = k.adds_in_order;
    layer.precision = in;
    layer.hints.algorithm = k.offsets ? "index arithmetic" : "";
    layer.hints.host = host_of(k, layer.pass);
    layer.op = s;
    return layer;
}

}  // namespace gambrel::network_detail
