#include "estimate/row_notes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gambrel::estimate_detail {

void RowNotes::add_layer(const Layer& layer, const EstimatedMachine& on) {
    any_ = true;
    // What sums over GPUs are charged by.
    if (links_.empty() && std::holds_alternative<AllReduce>(layer.op))
        links_.push_back(
            {on.machine.name, fmt::format("sums over GPUs are rings over links of {} in each direction (assumed)",
                                          to_text(on.inputs.link, 3))});
    note_fp16(layer, on);
    if (on.number >= seen_.size()) seen_.resize(on.number + 1);
    if (!seen_[on.number]) note_assumptions(on);
    seen_[on.number] = true;
}

// Numbers that the machines do not say and the model assumed, one note for each machine.
void RowNotes::note_assumptions(const EstimatedMachine& on) {
    if (std::find(machines_.begin(), machines_.end(), on.machine.name) != machines_.end()) return;
    machines_.push_back(on.machine.name);
    std::string text;
    for (const Assumption& a : assumptions(on.machine))
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : "; ", a.quantity, a.value, a.why);
    if (!text.empty()) assumed_.push_back({on.machine.name, "assumed, as it is not stated: " + text});
}

// Once for each machine that multiplies FP16 in another precision.
void RowNotes::note_fp16(const Layer& layer, const EstimatedMachine& on) {
    if (layer.precision != Precision::fp16 || on.inputs.flop_per_cycle[Pipe::tensor_fp16].value() > 0) return;
    const auto said = [&](const Error& e) { return e.where == on.machine.name; };
    if (std::any_of(fp16_.begin(), fp16_.end(), said)) return;
    if (auto pipe = pipe_for(layer, on.machine); pipe && !pipe->note.empty())
        fp16_.push_back({on.machine.name, std::move(pipe->note)});
}

bool RowNotes::counted(std::string_view reason) {
    const auto same = [&](const Error& e) { return e.what == reason; };
    const auto at = std::find_if(reasons_.begin(), reasons_.end(), same);
    if (at == reasons_.end()) return false;
    ++counts_[static_cast<std::size_t>(at - reasons_.begin())];
    return true;
}

// Each once with the number of rows.
Errors RowNotes::reasons() const {
    Errors out = reasons_;
    for (std::size_t i = 0; i < out.size(); ++i)
        if (counts_[i] > 1)
            out[i].what += fmt::format(" (and {} more {}{} for the same reason)", counts_[i] - 1, noun_,
                                       counts_[i] == 2 ? "" : "s");
    if (further_ > 0)
        out.push_back({"", fmt::format("{} more {}{} could not be estimated; the CSV output has the reason of each",
                                       further_, noun_, further_ == 1 ? "" : "s")});
    return out;
}

Errors RowNotes::failure(const std::string& title, bool table) const {
    Errors wrong = reasons();
    if (wrong.empty()) return {{title, "holds no layer"}};
    for (Error& e : wrong)
        if (table) e.where = fmt::format("{}: {}", title, e.where);
    return wrong;
}

void RowNotes::append_to(Errors& notes, const std::string& title) const {
    Errors wrong = reasons();
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < std::min(wrong.size(), kShown); ++i) notes.push_back(std::move(wrong[i]));
    if (wrong.size() > kShown)
        notes.push_back(
            {title, fmt::format("{} more reasons for rows without an estimate are in the CSV", wrong.size() - kShown)});
    notes.insert(notes.end(), assumed_.begin(), assumed_.end());
    notes.insert(notes.end(), links_.begin(), links_.end());
    notes.insert(notes.end(), fp16_.begin(), fp16_.end());
}

}  // namespace gambrel::estimate_detail
