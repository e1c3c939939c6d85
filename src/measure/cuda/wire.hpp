// Messages between a process and its probe worker, which are the same binary: numbers as they lie in memory, texts with
// their length. A message is its size and its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "measure/device.hpp"

namespace gambrel::measure_detail {

class Message {
public:
    Message() = default;
    explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put(const std::string& text);
    void put(const std::optional<std::string>& text);
    void put(const Sample& sample);

    // A value-initialized one where the message is too short.
    template <class T>
    T get() {
        T value{};
        if (bytes_.size() - at_ < sizeof value) return at_ = bytes_.size(), value;
        std::copy_n(bytes_.data() + at_, sizeof value, reinterpret_cast<char*>(&value));
        at_ += sizeof value;
        return value;
    }
    std::string get_text();
    std::optional<std::string> get_optional_text();
    Sample get_sample();

    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
    std::size_t at_ = 0;
};

bool send_message(int socket, const Message& message);
// Nothing if the other end is gone or `timeout` (0: none) has passed.
std::optional<Message> receive_message(int socket, Seconds timeout);

}  // namespace gambrel::measure_detail
