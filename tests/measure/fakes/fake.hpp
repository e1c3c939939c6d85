// What the fake libraries share: their knobs are environment variables, and every call goes to the file FAKE_LOG names.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

inline std::string variable(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}
// Notes the call; the code that FAKE_FAIL wants it to return, or 0.
inline int called(const char* name) {
    if (const char* path = std::getenv("FAKE_LOG")) {
        if (FILE* log = std::fopen(path, "a")) {
            std::fprintf(log, "%s\n", name);
            std::fclose(log);
        }
    }
    const std::string fail = variable("FAKE_FAIL", "");
    const auto colon = fail.find(':');
    return colon != std::string::npos && fail.substr(0, colon) == name ? std::atoi(fail.c_str() + colon + 1) : 0;
}
inline float event_milliseconds = 1;  // what every pair of events is apart
#define CALLED(name) \
    if (const int code = called(#name); code != 0) return code
