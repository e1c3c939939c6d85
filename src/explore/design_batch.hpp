// Times of a workload on many designs with one number of SMs, layer by layer and eight designs at a time. A time is the
// same whatever other designs are beside it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "explore/known_fits.hpp"

namespace gambrel::explore_detail {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

class DesignBatch {
public:
    // Designs that are judged together: what is known of them stays in a core's second cache.
    static constexpr std::size_t kMost = 512;

    explicit DesignBatch(const ModelInputs& hardware) : hardware_(hardware) {}
    // Empty, for designs with the number of SMs that these fits are for.
    void begin(KnownFits& fits);
    // False: there is no room for another one in this batch.
    bool add(const Factors& factors);
    [[nodiscard]] std::size_t size() const { return factors_.size(); }
    // Seconds of a layer on each design; infinite where nothing fits.
    const std::vector<double>& times(std::size_t layer);
    // How the first design runs that layer, whose times were computed last; null: nothing fits.
    [[nodiscard]] const Choice* chosen() const;
    [[nodiscard]] const Occupancy& occupancy(const Choice& choice) const {
        return (*fits_of_[0])[choice.footprint].occupancy;
    }

private:
    struct Run {
        std::size_t first = 0, last = 0;  // positions; the first is a multiple of kAtOnce
    };
    // Designs by what a footprint sees of them, so that those that look alike to it stand together.
    struct InOrder {
        std::vector<std::uint32_t> designs;  // by position; the last of a run repeated up to a multiple of kAtOnce
        std::vector<Run> runs;
        std::vector<const Fit*> seen;  // by design
        std::vector<UnitTimes> units;  // of kAtOnce positions each
        bool all = false;              // it fits on every design
    };

    const ModelInputs& inputs(std::uint32_t design);
    void put_in_order();
    void put_in_order(std::size_t footprint);
    [[nodiscard]] Designs together(const std::uint32_t* designs, std::size_t count) const;
    void judge(std::size_t number);
    void find_likely(std::size_t choices);
    template <class Wanted>
    void evaluate_where(std::size_t number, Wanted wanted);
    void evaluate_wanted(std::size_t number, std::size_t count);
    void evaluate(std::size_t number, const Fit& fit, const std::uint32_t* designs, std::size_t count);

    const ModelInputs& hardware_;
    KnownFits* fits_ = nullptr;
    double sms_ = 0;
    // By design.
    std::vector<Factors> factors_;
    std::vector<DesignRates> rates_;
    std::vector<const Fits*> fits_of_;
    std::vector<std::uint32_t> inputs_of_;  // where in `inputs_` they are, from 1 on; 0: nothing has asked for them
    std::vector<ModelInputs> inputs_;
    bool ordered_ = false;
    std::vector<InOrder> in_order_;  // by footprint
    // Of the layer at work.
    const std::vector<Choice>* choices_ = nullptr;
    std::vector<std::vector<double>> bounds_;  // by choice and design
    LeastBounds least_;                        // whose numbers are the likely choices
    std::vector<double> times_;                // by design
    std::vector<std::int64_t> chosen_;         // choices by design; -1: none
    std::vector<PerDesign> found_;
    std::vector<std::uint32_t> wanted_, next_;
};

}  // namespace gambrel::explore_detail
