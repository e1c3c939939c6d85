// Ranks that are threads of this process, so that what ranks do to each other is tested without MPI.
#pragma once

#include <barrier>
#include <deque>
#include <mutex>
#include <thread>

#include <gambrel/explore.hpp>

namespace gambrel::test {

struct Mail {
    explicit Mail(int ranks) : texts(static_cast<std::size_t>(ranks)), boxes(texts.size()), together(ranks) {}
    std::mutex mutex;
    std::vector<std::string> texts;
    std::vector<std::deque<World::Message>> boxes;
    std::barrier<> together;
};

class ThreadWorld : public World {
public:
    ThreadWorld(Mail& mail, int rank) : mail_(mail), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(mail_.texts.size()); }
    std::vector<std::string> gather(std::string_view mine) override {
        mail_.texts[static_cast<std::size_t>(rank_)] = mine;
        mail_.together.arrive_and_wait();
        const auto all = rank_ == 0 ? mail_.texts : std::vector<std::string>{};
        mail_.together.arrive_and_wait();
        return all;
    }
    std::string broadcast(std::string_view text) override {
        if (rank_ == 0) mail_.texts[0] = text;
        mail_.together.arrive_and_wait();
        const std::string of_rank_0 = mail_.texts[0];
        mail_.together.arrive_and_wait();
        return of_rank_0;
    }
    void send(int to, std::string_view text) override {
        const std::scoped_lock lock(mail_.mutex);
        mail_.boxes[static_cast<std::size_t>(to)].push_back({rank_, std::string(text)});
    }
    std::string receive(int) override {  // only rank 0 sends to the others
        for (;; std::this_thread::yield())
            if (const auto message = received()) return message->text;
    }
    std::optional<Message> received() override {
        const std::scoped_lock lock(mail_.mutex);
        auto& box = mail_.boxes[static_cast<std::size_t>(rank_)];
        if (box.empty()) return std::nullopt;
        Message first = std::move(box.front());
        box.pop_front();
        return first;
    }

private:
    Mail& mail_;
    int rank_;
};

// `run(world)` on each of `ranks` threads.
template <class Run>
void on_ranks(int ranks, Run run) {
    Mail mail(ranks);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            ThreadWorld world(mail, rank);
            run(world);
        });
}

}  // namespace gambrel::test
