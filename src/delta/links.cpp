// The file is part of the build, so a fault in it is an internal error.
#include "delta/links.hpp"

#include <algorithm>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/embedded.hpp"

namespace gambrel::delta_detail {
namespace {

struct Links {
    std::vector<std::pair<std::string, Bandwidth>> boards;         // a word of the machine's identifier
    std::vector<std::pair<std::string, Bandwidth>> architectures;  // the last is for all others
};

Bandwidth parsed(const nlohmann::json& text) {
    const auto value = parse_quantity<Bandwidth>(text.get<std::string>());
    if (!value) throw std::logic_error("data/model/links.json: " + value.error());
    return *value;
}

Links read_links() {
    const auto files = embedded("model");
    const auto file = std::find_if(files.begin(), files.end(), [](const auto& f) { return f.name == "links"; });
    if (file == files.end()) throw std::logic_error("data/model/links.json is not in the build");
    const auto all = nlohmann::ordered_json::parse(file->text);
    Links links;
    for (const auto& link : all.at("links"))
        for (const auto& word : link.at("words"))
            links.boards.emplace_back(word.get<std::string>(), parsed(link.at("bandwidth")));
    for (const auto& [id, bandwidth] : all.at("slot").items()) links.architectures.emplace_back(id, parsed(bandwidth));
    return links;
}

}  // namespace

Bandwidth link_of(const Machine& machine) {
    static const Links links = read_links();
    for (const auto& [word, bandwidth] : links.boards)
        if (machine.id.find(word) != std::string::npos) return bandwidth;
    for (const auto& [id, bandwidth] : links.architectures)
        if (id == architecture_of(machine).id) return bandwidth;
    return links.architectures.back().second;
}

}  // namespace gambrel::delta_detail
