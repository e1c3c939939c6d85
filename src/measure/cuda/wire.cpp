#include "measure/cuda/wire.hpp"

#include <algorithm>

#include <poll.h>
#include <sys/socket.h>

namespace gambrel::measure_detail {

void Message::put(const std::string& text) {
    put(text.size());
    bytes_ += text;
}
void Message::put(const std::optional<std::string>& text) {
    put(text.has_value());
    if (text) put(*text);
}
void Message::put(const Sample& s) {
    put(s.time.value()), put(s.flop), put(s.bytes.value()), put(s.accesses);
    put(s.clock ? s.clock->value() : 0.0);
    put(s.throttled), put(s.disturbed), put(s.fault);
    put(s.code);
    put(s.groups.size());
    for (const GroupTime& group : s.groups) put(group);
}

std::string Message::get_text() {
    const auto size = std::min(get<std::size_t>(), bytes_.size() - at_);
    std::string text = bytes_.substr(at_, size);
    at_ += size;
    return text;
}
std::optional<std::string> Message::get_optional_text() {
    if (!get<bool>()) return std::nullopt;
    return get_text();
}
Sample Message::get_sample() {
    Sample s;
    s.time = Seconds(get<double>());
    s.flop = get<double>();
    s.bytes = Bytes(get<double>());
    s.accesses = get<double>();
    if (const double clock = get<double>(); clock > 0) s.clock = Frequency(clock);
    s.throttled = get_optional_text();
    s.disturbed = get<bool>();
    s.fault = get_optional_text();
    s.code = get<std::uint64_t>();
    s.groups.resize(std::min(get<std::size_t>(), bytes_.size() / sizeof(GroupTime)));
    for (GroupTime& group : s.groups) group = get<GroupTime>();
    return s;
}

bool send_message(int socket, const Message& message) {
    Message framed;
    framed.put(message.bytes());
    const std::string& bytes = framed.bytes();
    for (std::size_t done = 0; done < bytes.size();) {
        const auto sent = send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        done += static_cast<std::size_t>(sent);
    }
    return true;
}

std::optional<Message> receive_message(int socket, Seconds timeout) {
    const auto receive = [&](char* to, std::size_t count) {
        for (std::size_t done = 0; done < count;) {
            pollfd ready{socket, POLLIN, 0};
            const int wait = timeout.value() > 0 ? static_cast<int>(1000 * timeout.value()) : -1;
            if (poll(&ready, 1, wait) <= 0) return false;
            const auto got = recv(socket, to + done, count - done, 0);
            if (got <= 0) return false;
            done += static_cast<std::size_t>(got);
        }
        return true;
    };
    std::size_t size = 0;
    if (!receive(reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
    constexpr std::size_t kMost = std::size_t{64} << 20;
    if (size > kMost) return std::nullopt;
    std::string bytes(size, '\0');
    if (!receive(bytes.data(), size)) return std::nullopt;
    return Message(std::move(bytes));
}

}  // namespace gambrel::measure_detail
