// What a trace says beside its events: the GPUs, and which rank it is of.
#include "trace/json_token.hpp"
#include "trace/kineto_event.hpp"

namespace gambrel::trace_detail {

namespace od = simdjson::ondemand;

void EventReader::devices(od::value& value) {
    od::array list;
    if (value.get_array().get(list) != simdjson::SUCCESS) return;
    for (auto item : list) {
        od::object object;
        if (item.get_object().get(object) != simdjson::SUCCESS) return;
        Timeline::Device device;
        std::int32_t id = 0;
        ComputeCapability cc;
        for (auto field : object) {
            od::field entry;
            if (std::move(field).get(entry) != simdjson::SUCCESS) return;
            const char* key = entry.key().raw();
            od::value v = entry.value();
            const auto number = [&] { return integer(token(v)).value_or(0); };
            if (is_key(key, "id"))
                id = static_cast<std::int32_t>(number());
            else if (is_key(key, "name"))
                device.name = unescaped(token(v), room_);
            else if (is_key(key, "totalGlobalMem"))
                device.memory = Bytes{static_cast<double>(number())};
            else if (is_key(key, "computeMajor"))
                cc.major = static_cast<int>(number());
            else if (is_key(key, "computeMinor"))
                cc.minor = static_cast<int>(number());
            else if (is_key(key, "numSms"))
                device.sms = static_cast<double>(number());
        }
        if (cc.major > 0) device.compute_capability = cc;
        out_.devices[id] = std::move(device);
    }
}

void EventReader::distributed(od::value& value) {
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return;
    for (auto field : object) {
        od::field entry;
        if (std::move(field).get(entry) != simdjson::SUCCESS) return;
        od::value v = entry.value();
        if (is_key(entry.key().raw(), "rank")) out_.rank = integer(token(v));
    }
}

}  // namespace gambrel::trace_detail
