// Does every picture, table and page say whether its numbers were measured, modelled, simulated or derived?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/numbers.hpp"
#include "report/sample.hpp"

#include <gambrel/report.hpp>

namespace gambrel {
namespace {

using report_detail::origins_text;
using testing::HasSubstr;
using testing::Not;

Analysis with_origins(Origin time, Origin work, Origin bytes) {
    Analysis a = sample::training();
    for (AnalysisRow& row : a.rows) {
        row.kernel.time->origin = time;
        for (const Pipe p : all_pipes())
            if (row.kernel.work[p]) row.kernel.work[p]->origin = work;
        for (const Level l : all_levels())
            if (row.kernel.bytes[l]) row.kernel.bytes[l]->origin = bytes;
    }
    return a;
}

std::string page_of(const Analysis& a) {
    PageInput input;
    input.views = {{"view", &a, nullptr, {}, {}}};
    return html_page(input).value();
}

TEST(Origins, one_origin_is_one_word_and_a_mix_is_said_as_a_mix) {
    EXPECT_EQ(origins_text(with_origins(Origin::measured, Origin::measured, Origin::measured)), "measured");
    EXPECT_EQ(origins_text(with_origins(Origin::modelled, Origin::modelled, Origin::modelled)), "modelled");
    EXPECT_EQ(origins_text(with_origins(Origin::derived, Origin::derived, Origin::simulated)),
              "derived time and FLOP, simulated bytes");
    EXPECT_EQ(origins_text(Analysis{}), "");
    Analysis half = with_origins(Origin::measured, Origin::measured, Origin::measured);
    half.rows[0].kernel.time->origin = Origin::modelled;
    EXPECT_THAT(origins_text(half), HasSubstr("measured and modelled time"));
}

TEST(Origins, are_in_every_picture_in_the_terminal_and_on_the_page) {
    const TextStyle style;
    const Analysis measured = sample::training();
    const Analysis simulated = with_origins(Origin::derived, Origin::derived, Origin::simulated);
    const Analysis modelled = with_origins(Origin::modelled, Origin::modelled, Origin::modelled);
    for (const auto& [a, words] : {std::pair{&measured, "measured · theoretical roofs"},
                                   {&modelled, "modelled · theoretical roofs"},
                                   {&simulated, "derived time and FLOP, simulated bytes · theoretical roofs"}}) {
        EXPECT_THAT(roofline_svg(*a), HasSubstr(words));
        EXPECT_THAT(terminal_chart(*a, style), HasSubstr(words));
        EXPECT_THAT(page_of(*a), HasSubstr(words));
    }
    EXPECT_THAT(text_table(modelled, style), HasSubstr("modelled"));
    EXPECT_THAT(text_table(modelled, style), Not(HasSubstr("measured")));
}

TEST(Origins, of_the_roofs_are_said_too) {
    Machine machine = sample::toy_machine();
    machine.at(Level::dram).measured = AtClock<Bandwidth>{{Bandwidth{9e9}, Origin::measured, "a benchmark"}, {}};
    EXPECT_THAT(roofline_svg(machine_analysis(machine, "alone")), HasSubstr("Toy 100 · measured roofs"));
    machine.levels[0].measured->ceiling.origin = Origin::simulated;
    EXPECT_THAT(roofline_svg(machine_analysis(machine, "alone")), HasSubstr("Toy 100 · simulated roofs"));
}

TEST(Origins, of_both_sides_of_a_comparison_are_said) {
    const Comparison c =
        comparison(with_origins(Origin::modelled, Origin::modelled, Origin::modelled), sample::training());
    EXPECT_THAT(comparison_svg(c), HasSubstr("modelled -&gt; measured"));
}

TEST(PartialResults, are_marked_in_every_format) {
    Analysis a = sample::training();
    a.partial = true;
    const TextStyle style;
    for (const std::string& text :
         {text_table(a, style), terminal_chart(a, style), roofline_svg(a), csv(a), page_of(a)})
        EXPECT_THAT(text, HasSubstr("partial result")) << text.substr(0, 300);
    EXPECT_THAT(page_of(a), HasSubstr("Partial result: its source was cut short"));
    EXPECT_THAT(json(a), HasSubstr("\"partial\": true"));
    EXPECT_THAT(json(sample::training()), Not(HasSubstr("\"partial\"")));
    EXPECT_THAT(csv(sample::training()), Not(HasSubstr("partial")));
}

}  // namespace
}  // namespace gambrel
