// Errors with suggestions, symbols shared by threads, and the words of the vocabulary.
#include <set>
#include <thread>
#include <unordered_set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gambrel/base.hpp>
#include <gambrel/machine.hpp>

namespace gambrel {
namespace {

const std::vector<std::string> kFields{"bandwidth", "capacity", "latency", "name", "scope", "width"};

TEST(Error, a_slip_is_answered_with_the_nearest_name) {
    EXPECT_EQ(did_you_mean("bandwith", kFields), "; did you mean \"bandwidth\"?");
    EXPECT_EQ(did_you_mean("BANDWIDTH", kFields), "; did you mean \"bandwidth\"?");
    EXPECT_EQ(nearest_name("capactiy", kFields), "capacity");
    EXPECT_EQ(nearest_name("nam", kFields), "name");
    EXPECT_EQ(nearest_name("socpe", kFields), "scope");  // of five letters two changed places: one slip, not two
}

TEST(Error, another_word_is_answered_with_no_guess) {
    EXPECT_EQ(did_you_mean("sectors", kFields), "");
    EXPECT_EQ(did_you_mean("x", kFields), "");
    EXPECT_EQ(did_you_mean("", kFields), "");
    EXPECT_EQ(did_you_mean("bandwidth", {}), "");
}

TEST(Error, names_that_share_a_word_are_all_suggested) {
    const std::vector<std::string> networks{"alexnet",       "googlenet",    "resnet50",
                                            "resnet50-v1.5", "mobilenet-v2", "bert-base"};
    EXPECT_EQ(did_you_mean("bert", networks), "; did you mean \"bert-base\"?");
    EXPECT_EQ(did_you_mean("mobilenet", networks), "; did you mean \"mobilenet-v2\"?");
    EXPECT_EQ(did_you_mean("resnet", networks), "; did you mean \"resnet50\" or \"resnet50-v1.5\"?");
    EXPECT_EQ(did_you_mean("squeezenet", networks), "");
    EXPECT_EQ(nearest_name("resnet", networks), "");  // shares a word, but is not a slip
    EXPECT_EQ(similar_names("resnet51", networks), std::vector<std::string>{"resnet50"});
}

TEST(Error, a_column_of_one_letter_is_not_a_slip_for_another) {
    const std::vector<std::string> header{"a", "b", "name"};
    EXPECT_EQ(did_you_mean("N", header), "");
    const std::vector<std::string> lower{"a", "n"};
    EXPECT_EQ(did_you_mean("N", lower), "; did you mean \"n\"?");
}

TEST(Error, text_is_place_then_fault_one_line_each) {
    const Error a{"h100.json: levels[1]", "wrong"}, b{"", "no file was given"};
    EXPECT_EQ(to_text(a), "h100.json: levels[1]: wrong");
    EXPECT_EQ(to_text(b), "no file was given");
    EXPECT_EQ(to_text(Errors{a, b}), "h100.json: levels[1]: wrong\nno file was given\n");
}

TEST(Symbol, equal_texts_are_one_symbol_and_sort_by_text) {
    const std::string zebra = "zebra";
    EXPECT_EQ(Symbol("zebra"), Symbol(zebra + ""));
    EXPECT_EQ(&Symbol("zebra").str(), &Symbol(zebra).str());
    EXPECT_NE(Symbol("zebra"), Symbol("ape"));
    EXPECT_LT(Symbol("ape"), Symbol("zebra"));
    EXPECT_FALSE(Symbol("zebra") < Symbol("ape"));
    EXPECT_TRUE(Symbol().empty());
    EXPECT_EQ(Symbol(), Symbol(""));
    EXPECT_EQ(std::hash<Symbol>{}(Symbol("zebra")), std::hash<Symbol>{}(Symbol(zebra)));
    EXPECT_EQ(Symbol(std::string_view("a\0b", 3)).str().size(), 3U);
}

TEST(Symbol, threads_that_make_the_same_texts_get_the_same_symbols) {
    constexpr int kThreads = 8, kTexts = 5000;
    std::vector<std::vector<Symbol>> made(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&mine = made[static_cast<std::size_t>(t)]] {
            for (int i = 0; i < kTexts; ++i) mine.emplace_back("threads_" + std::to_string(i));
        });
    for (auto& thread : threads) thread.join();
    for (int i = 0; i < kTexts; ++i)
        for (const auto& mine : made) {
            ASSERT_EQ(mine[static_cast<std::size_t>(i)], made[0][static_cast<std::size_t>(i)]);
            ASSERT_EQ(mine[static_cast<std::size_t>(i)].str(), "threads_" + std::to_string(i));
        }
}

TEST(Vocabulary, every_name_is_there_once_and_reads_back) {
    std::set<std::string_view> pipes, titles, levels, origins;
    for (const Pipe p : all_pipes()) {
        EXPECT_TRUE(pipes.insert(name(p)).second) << name(p);
        EXPECT_TRUE(titles.insert(title(p)).second) << title(p);
        EXPECT_EQ(pipe_from(name(p)), p);
        EXPECT_FALSE(name(p).empty() || title(p).empty());
        EXPECT_EQ(is_tensor(p), name(p).starts_with("tensor_")) << name(p);
        EXPECT_EQ(is_integer(p), name(p).find("int") != std::string_view::npos) << name(p);
    }
    for (const Level l : all_levels()) {
        EXPECT_TRUE(levels.insert(name(l)).second);
        EXPECT_EQ(level_from(name(l)), l);
    }
    for (std::size_t i = 0; i < kOrigins; ++i) {
        const auto o = static_cast<Origin>(i);
        EXPECT_TRUE(origins.insert(name(o)).second);
        EXPECT_EQ(origin_from(name(o)), o);
    }
    EXPECT_EQ(pipes.size(), kPipes);
    EXPECT_EQ(levels.size(), kLevels);
    EXPECT_EQ(name(Pipe::tensor_int1), "tensor_int1");  // the last: a name too few would shift it
    EXPECT_EQ(name(Level::dram), "DRAM");
    EXPECT_EQ(name(Origin::simulated), "simulated");
}

TEST(Vocabulary, unknown_words_are_nothing) {
    EXPECT_EQ(pipe_from("fp128"), std::nullopt);
    EXPECT_EQ(pipe_from(""), std::nullopt);
    EXPECT_EQ(level_from("dram"), std::nullopt);  // names are spelled as printed
    EXPECT_EQ(origin_from("guess"), std::nullopt);
}

}  // namespace
}  // namespace gambrel
