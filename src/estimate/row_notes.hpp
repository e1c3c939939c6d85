// What is said of all rows together: the reasons of those without an estimate, and what was assumed of the machines.
// Rows are added one by one and not kept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gambrel/estimate.hpp>

namespace gambrel::estimate_detail {

class RowNotes {
public:
    explicit RowNotes(std::string_view noun) : noun_(noun) {}

    void add_layer(const Layer& layer, const EstimatedMachine& on);
    // `where` is asked for only if the reason is listed.
    template <class Where>
    void add_reason(std::string_view reason, const Where& where) {
        if (reason.empty() || counted(reason)) return;
        if (reasons_.size() == kMostReasons)
            ++further_;
        else
            reasons_.push_back({where(), std::string(reason)}), counts_.push_back(1);
    }
    [[nodiscard]] bool any() const { return any_; }  // layer that was estimated
    [[nodiscard]] bool any_reason() const { return !reasons_.empty(); }

    // Where nothing could be estimated: all reasons, or that there is no layer at all.
    [[nodiscard]] Errors failure(const std::string& title, bool table) const;
    // The first reasons, then what was assumed.
    void append_to(Errors& notes, const std::string& title) const;

private:
    // A batch that does not fit gives every layer a reason of its own: the first ones say it all.
    static constexpr std::size_t kMostReasons = 6;
    bool counted(std::string_view reason);
    void note_assumptions(const EstimatedMachine& on);
    void note_fp16(const Layer& layer, const EstimatedMachine& on);
    [[nodiscard]] Errors reasons() const;

    std::string_view noun_;
    bool any_ = false;
    Errors reasons_;
    std::vector<std::size_t> counts_;
    std::size_t further_ = 0;
    std::vector<bool> seen_;             // EstimatedMachine::number
    std::vector<std::string> machines_;  // whose assumptions are noted: the same at every clock
    Errors assumed_, links_, fp16_;
};

}  // namespace gambrel::estimate_detail
