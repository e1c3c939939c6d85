// A launch on the fake device does in plain C++ what the kernel of that name would do.
#pragma once

#include <cstdlib>
#include <string>

// "Machine code" is the source text itself.
struct Function {
    std::string text, name;
    long long define(const std::string& key, long long otherwise) const {
        const auto at = text.find("#define " + key + " ");
        return at == std::string::npos ? otherwise : std::atoll(text.c_str() + at + key.size() + 9);
    }
    bool defined(const std::string& key) const { return text.find("#define " + key + "\n") != std::string::npos; }
};

void run(const Function& function, unsigned groups, unsigned threads, void** arguments);
