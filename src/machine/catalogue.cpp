#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <gambrel/machine.hpp>

#include "base/embedded.hpp"
#include "machine/machine_names.hpp"

namespace gambrel {
namespace {

using machine_detail::MachineNames;

// Drivers, profilers and people differ in case, blanks, dashes and the vendor's words: "NVIDIA A100-PCIE-40GB",
// "A100 PCIe 40 GB", "a100-pcie-40gb". So names compare by their words in lower case, sorted.
using Words = std::set<std::string>;

Words words_of(std::string_view name) {
    std::vector<std::string> found(1);
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            found.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!found.back().empty())
            found.emplace_back();
    }
    Words words;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool capacity = i + 1 < found.size() && found[i + 1] == "gb";
        if (!found[i].empty() && found[i] != "gb") words.insert(capacity ? found[i] + "gb" : found[i]);
    }
    return words;
}

// Words that a board's name can do without: "4090" and "Tesla T4" say enough.
Words without_brands(Words words) {
    for (const char* brand : {"nvidia", "geforce", "tesla", "rtx", "gtx", "gpu", "generation", "graphics"})
        words.erase(brand);
    return words;
}

std::string key_of(const Words& words) { return fmt::format("{}", fmt::join(words, "")); }

std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (letters.starts_with("nvidia")) letters.erase(0, 6);
    return letters;
}

// "v100" also means "v100s", and "l40" "l40s"; "a10" is not the beginning of "a100".
bool names_word(const std::string& asked, const std::string& word) {
    if (asked == word) return true;
    return word.starts_with(asked) && std::isdigit(static_cast<unsigned char>(asked.back())) &&
           std::all_of(word.begin() + static_cast<std::ptrdiff_t>(asked.size()), word.end(),
                       [](unsigned char c) { return std::isalpha(c); });
}

// Reading every machine takes most of a short command's time, and a name needs only one of them. So the catalogue is
// indexed by the names alone, and a machine is read when somebody asks for it.
struct Catalogue {
    std::vector<EmbeddedText> files;           // by id
    std::vector<MachineNames> names;           // of each file
    std::map<std::string, std::size_t> index;  // by the letters of a whole name

    Catalogue() {
        const auto texts = embedded("machines");
        files.assign(texts.begin(), texts.end());
        std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
        for (std::size_t i = 0; i < files.size(); ++i) {
            names.push_back(machine_detail::machine_names(files[i].text));
            for (const auto& name : names.back().all()) index.emplace(letters_of(name), i);
        }
        machines_.resize(files.size());
        read_ = std::make_unique<std::once_flag[]>(files.size());
    }

    const Machine& machine(std::size_t i) const {
        std::call_once(read_[i], [&] {
            auto machine = parse_machine(files[i].text, fmt::format("data/machines/{}.json", files[i].name));
            // The build's own data: a fault here is an internal error, and the tests load every file.
            if (!machine) throw std::logic_error(to_text(machine.error()));
            machine->source = "catalogue";
            machine->made_from = MachineSource::catalogue;
            machines_[i] = std::move(*machine);
        });
        return machines_[i];
    }
    [[nodiscard]] std::span<const Machine> machines() const {
        for (std::size_t i = 0; i < files.size(); ++i) static_cast<void>(machine(i));
        return machines_;
    }

    // Names by their words, for those that are not spelled as in a file and for questions about a family of boards.
    struct ByWords {
        std::vector<Words> words;                  // of all names of a machine
        std::map<std::string, std::size_t> loose;  // by words without brands, only where one machine has them
    };
    const ByWords& by_words() const {
        std::call_once(words_read_, [&] {
            std::set<std::string> ambiguous;
            for (std::size_t i = 0; i < files.size(); ++i) {
                Words& words = by_words_.words.emplace_back();
                for (const auto& name : names[i].all()) {
                    const Words of_name = words_of(name);
                    words.insert(of_name.begin(), of_name.end());
                    const auto [it, fresh] = by_words_.loose.emplace(key_of(without_brands(of_name)), i);
                    if (!fresh && it->second != i) ambiguous.insert(it->first);
                }
            }
            for (const auto& key : ambiguous) by_words_.loose.erase(key);
        });
        return by_words_;
    }

    // How many of the words name this machine. A word without a digit ("pcie", "ti") or a capacity ("16gb") does not
    // make a family.
    [[nodiscard]] std::size_t matches(std::size_t machine, const Words& asked) const {
        const Words& words = by_words().words[machine];
        std::size_t count = 0, telling = 0;
        for (const auto& word : asked)
            if (std::any_of(words.begin(), words.end(), [&](const auto& w) { return names_word(word, w); })) {
                ++count;
                telling += !word.ends_with("gb") &&
                           std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
            }
        return telling > 0 || count == asked.size() ? count : 0;
    }

    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
        if (const auto it = index.find(letters_of(name)); it != index.end()) return it->second;
        const auto& loose = by_words().loose;
        const auto it = loose.find(key_of(without_brands(words_of(name))));
        return it == loose.end() || it->first.empty() ? std::nullopt : std::optional(it->second);
    }

    // "V100 (NERSC Cori GPU, V100-SXM2-16GB)": the remark may say which board of that name it is.
    [[nodiscard]] std::optional<std::size_t> find_by_remark(std::string_view name) const {
        const std::size_t open = name.find('('), close = name.rfind(')');
        if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
        const Words family = without_brands(words_of(name.substr(0, open)));
        std::string_view remark = name.substr(open + 1, close - open - 1);
        std::optional<std::size_t> found;
        while (!remark.empty()) {
            const std::size_t comma = std::min(remark.find_first_of(",;"), remark.size());
            const auto board = find(remark.substr(0, comma));
            remark.remove_prefix(std::min(comma + 1, remark.size()));
            if (!board || family.empty() || matches(*board, family) != family.size()) continue;
            if (found && *found != *board) return std::nullopt;
            found = board;
        }
        return found;
    }

    // The machines that have all these words.
    [[nodiscard]] std::vector<std::size_t> like(std::string_view text) const {
        Words asked = without_brands(words_of(text));
        if (asked.empty()) asked = words_of(text);
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < files.size(); ++i)
            if (!asked.empty() && matches(i, asked) == asked.size()) found.push_back(i);
        return found;
    }

private:
    mutable std::vector<Machine> machines_;  // empty until read_
    std::unique_ptr<std::once_flag[]> read_;
    mutable ByWords by_words_;  // empty until words_read_
    mutable std::once_flag words_read_;
};

const Catalogue& the_catalogue() {
    static const Catalogue instance;
    return instance;
}

}  // namespace

std::span<const Machine> catalogue() { return the_catalogue().machines(); }

const Machine* find_in_catalogue(std::string_view name) {
    const auto& c = the_catalogue();
    auto found = c.find(name);
    if (!found) found = c.find_by_remark(name);
    return found ? &c.machine(*found) : nullptr;
}

std::vector<const Machine*> machines_of(ComputeCapability capability, std::size_t most) {
    const auto& c = the_catalogue();
    // A file that does not have it as a text anywhere does not have it as its compute capability.
    const std::string text = fmt::format("\"{}.{}\"", capability.major, capability.minor);
    std::vector<const Machine*> found;
    for (std::size_t i = 0; i < c.files.size() && found.size() < most; ++i)
        if (c.files[i].text.find(text) != std::string_view::npos && c.machine(i).compute_capability == capability)
            found.push_back(&c.machine(i));
    return found;
}

std::vector<const Machine*> machines_like(std::string_view words) {
    std::vector<const Machine*> found;
    for (const std::size_t i : the_catalogue().like(words)) found.push_back(&the_catalogue().machine(i));
    return found;
}

std::optional<Error> machine_choice_note(std::string_view name) {
    const Machine* taken = find_in_catalogue(name);
    if (!taken || letters_of(name) == letters_of(taken->id) || letters_of(name) == letters_of(taken->name)) return {};
    std::vector<std::string> others;
    for (const std::size_t i : the_catalogue().like(name))
        if (the_catalogue().names[i].id != taken->id) others.push_back(the_catalogue().names[i].id);
    if (others.empty()) return {};
    return Error{std::string(name), fmt::format("taken as {} ({}); other boards of this name: {}", taken->name,
                                                taken->id, fmt::join(others, ", "))};
}

// The boards that share most words with the name, or else those whose ids or aliases differ by a slip of the pen.
std::vector<std::string> similar_in_catalogue(const std::string& name) {
    const auto& c = the_catalogue();
    const Words asked = without_brands(words_of(name));
    std::vector<std::string> found, names;
    std::size_t best = 1;
    for (std::size_t i = 0; i < c.files.size(); ++i) {
        names.push_back(c.names[i].id);
        const std::size_t matches = c.matches(i, asked);
        if (matches < best) continue;
        if (matches > best) best = matches, found.clear();
        found.push_back(c.names[i].id);
    }
    return found.empty() ? similar_names(name, names) : found;
}

Result<Machine> machine_from(const std::string& name_or_path) {
    if (const Machine* known = find_in_catalogue(name_or_path)) return *known;
    std::error_code ignored;
    if (std::filesystem::exists(name_or_path, ignored)) return load_machine_file(name_or_path);
    if (name_or_path.ends_with(".json")) return failure(name_or_path, "no such file");
    const auto candidates = similar_in_catalogue(name_or_path);
    return failure(name_or_path,
                   fmt::format("neither one of the {} machines that `gambrel machines` lists nor a file{}",
                               the_catalogue().files.size(),
                               candidates.empty() ? "" : fmt::format("; similar: {}", fmt::join(candidates, ", "))));
}

}  // namespace gambrel
