// Numbers as profilers print them: thousands separators and decimal marks of any locale, "nan", "n/a", "(!) nan".
// Invariant: a text that can be read in one way only is read that way; only "5,376" and "5.376" follow the given mark.
// It knows no units: what follows the number is left to the caller (`length`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace gambrel::ingest_detail {

enum class DecimalMark : std::uint8_t { point, comma };

struct NumberText {
    enum class Kind : std::uint8_t { number, not_a_number, missing, malformed };
    Kind kind = Kind::malformed;
    bool ambiguous = false;             // the given mark decided the value
    std::optional<DecimalMark> proves;  // the text shows which mark its writer used
    double value = std::numeric_limits<double>::quiet_NaN();
    std::size_t length = 0;  // characters from the start of the text through the end of the number
};

NumberText number_from(std::string_view text, DecimalMark mark = DecimalMark::point);

// The decimal mark of a file, by vote of the values that can be read in one way only. English unless outvoted.
class DecimalVote {
public:
    void count(const NumberText& number) {
        if (number.proves) ++(*number.proves == DecimalMark::point ? points_ : commas_);
        ambiguous_ += number.ambiguous;
    }
    [[nodiscard]] bool open() const { return points_ + commas_ == 0; }
    [[nodiscard]] DecimalMark mark() const { return commas_ > points_ ? DecimalMark::comma : DecimalMark::point; }
    // True if values were read by `used` that the vote would read otherwise: the file must be read again.
    [[nodiscard]] bool overturns(DecimalMark used) const { return ambiguous_ > 0 && mark() != used; }

private:
    std::uint64_t points_ = 0, commas_ = 0, ambiguous_ = 0;
};

}  // namespace gambrel::ingest_detail
