#include "app/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace gambrel::app {
namespace {

constexpr std::size_t kKeep = 1 << 20;

volatile std::sig_atomic_t child_pid = 0;
volatile std::sig_atomic_t asked_to_stop = 0;

extern "C" void pass_on(int signal, siginfo_t* info, void*) {
    const int saved = errno;
    asked_to_stop = 1;
    // The terminal sends Ctrl-C to the whole group, so the child has it already; kill(1) sends it to us alone.
    if (child_pid > 0 && info && info->si_code == SI_USER) kill(static_cast<pid_t>(child_pid), signal);
    errno = saved;
}

// While a child runs, requests to stop are for it: what it wrote until then is still worth reading.
class PassOnSignals {
public:
    PassOnSignals() {
        struct sigaction action {};
        action.sa_sigaction = pass_on;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigemptyset(&action.sa_mask);
        asked_to_stop = 0;
        for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
    }
    PassOnSignals(const PassOnSignals&) = delete;
    PassOnSignals& operator=(const PassOnSignals&) = delete;
    ~PassOnSignals() {
        for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
        child_pid = 0;
    }

private:
    static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, 3> before_{};
};

void echo_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = write(STDERR_FILENO, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
}

// False at the end of the stream or when nothing is there.
bool read_some(int fd, Echo echo, std::string& output) {
    std::array<char, 1 << 14> buffer{};
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0) return n < 0 && errno == EINTR;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
    if (echo == Echo::to_stderr) echo_bytes(bytes);
    output += bytes;
    if (output.size() > 2 * kKeep) output.erase(0, output.size() - kKeep);
    return true;
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int out, int error) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(argv[0], argv.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t n = write(error, &why, sizeof why);
    _exit(127);
}

// A process that the child left behind may hold the pipe for ever, so the end of the child ends the reading too.
int wait_and_read(pid_t pid, int fd, Echo echo, std::string& output) {
    int status = 0;
    bool open = true;
    for (;;) {
        const pid_t ended = waitpid(pid, &status, open ? WNOHANG : 0);
        if (ended == pid || (ended < 0 && errno != EINTR)) break;
        pollfd p{fd, POLLIN, 0};
        if (open && poll(&p, 1, 50) > 0) open = read_some(fd, echo, output);
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (open && read_some(fd, echo, output)) {
    }
    return status;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, Echo echo) {
    ChildResult result;
    std::array<int, 2> out{}, error{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(error.data(), O_CLOEXEC) != 0) {
        result.output = std::strerror(errno);
        return result;
    }
    const PassOnSignals signals;
    const pid_t pid = fork();
    if (pid == 0) become(arguments, out[1], error[1]);
    const int fork_error = errno;
    child_pid = pid;
    close(out[1]);
    close(error[1]);
    int why = pid < 0 ? fork_error : 0;
    // Closed by a successful exec, so this waits for exec and no longer.
    while (pid > 0 && read(error[0], &why, sizeof why) < 0 && errno == EINTR) {
    }
    result.started = why == 0;
    if (pid > 0) {
        const int status = wait_and_read(pid, out[0], echo, result.output);
        if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
        if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    }
    if (!result.started) result.output = std::strerror(why);
    result.interrupted = asked_to_stop != 0;
    close(out[0]);
    close(error[0]);
    return result;
}

bool is_executable(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_executable(name) ? std::optional(name) : std::nullopt;
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        const auto end = std::min(rest.find(':'), rest.size());
        const std::string folder(rest.substr(0, end));
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
        if (is_executable(candidate)) return candidate;
        if (end == rest.size()) return std::nullopt;
        rest.remove_prefix(end + 1);
    }
}

std::string shell_quoted(const std::vector<std::string>& arguments) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
    std::string line;
    for (const auto& argument : arguments) {
        if (!line.empty()) line += ' ';
        if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
            line += argument;
            continue;
        }
        line += '\'';
        for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

}  // namespace gambrel::app
