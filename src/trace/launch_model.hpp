// Work and bytes of a launch: its operator to a Layer by the operator table, its name and grid to the Mapping.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gambrel/trace.hpp>

namespace gambrel::trace_detail {

class LaunchModel {
public:
    static Result<LaunchModel> make(const Timeline& timeline, const std::vector<Machine>& machines,
                                    const TraceOptions& options);
    LaunchModel(LaunchModel&&) noexcept;
    LaunchModel& operator=(LaunchModel&&) noexcept;
    ~LaunchModel();

    [[nodiscard]] bool is_communication(Symbol kernel) const;
    // Adds what the model knows of the activity at `index`; else says why it knows nothing.
    std::string add_to(Kernel& kernel, std::size_t index);
    [[nodiscard]] const LaunchLayer& last_layer() const;  // of the last launch that add_to knew
    [[nodiscard]] Errors notes() const;                   // what was assumed

private:
    struct State;
    explicit LaunchModel(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// Why nothing is known of an activity without an operator.
std::string why_no_operator(const Activity& activity);
// The machine of each device of a timeline. An error names candidates where a device is not in the catalogue.
Result<std::vector<Machine>> machines_of(const Timeline& timeline, const Machine* chosen, Errors& notes);

}  // namespace gambrel::trace_detail
