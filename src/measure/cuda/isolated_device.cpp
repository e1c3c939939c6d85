#include "measure/cuda/isolated_device.hpp"

#include <csignal>
#include <string>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/cuda/cuda_device.hpp"
#include "measure/cuda/wire.hpp"
#include "measure/gpu/tensor_kernels.hpp"

namespace gambrel::measure_detail {

namespace {

enum class Request : std::uint8_t { prepare, run };
enum class Reply : std::uint8_t { ready, refused, failed, unopened, sample, died };
constexpr int kContextLost = 3;  // exit status of a worker
// Compiling takes a second, opening a device a few; a launch is limited by the worker itself.
constexpr Seconds kLongestReply{120};

Message reply(Reply kind, const std::string& text = {}) {
    Message m;
    m.put(kind);
    m.put(text);
    return m;
}

// Serves requests until the socket closes or the device is lost.
class Worker {
public:
    Worker(int socket, OpenDevice open, std::string rest) : socket_(socket), open_(open), rest_(std::move(rest)) {}

    int serve() {
        while (auto request = receive_message(socket_, Seconds{0})) {
            Message answer;
            switch (request->get<Request>()) {
                case Request::prepare: {
                    const auto probe = request->get<Probe>();
                    answer = prepared(probe, Bytes(request->get<double>()));
                    break;
                }
                case Request::run: {
                    const Bytes set(request->get<double>());
                    answer = sampled(set, request->get<std::int64_t>());
                    break;
                }
            }
            if (!send_message(socket_, answer)) break;
            if (device_ && device_->lost()) return kContextLost;
        }
        return 0;
    }

private:
    Message prepared(const Probe& probe, Bytes largest) {
        probe_.reset();
        if (!device_) {
            auto opened = open_(rest_);
            if (!opened) return reply(Reply::unopened, one_line(opened.error()));
            device_ = std::move(*opened);
            expect_all();
        }
        auto made = device_->prepare(probe, largest);
        if (!made) return reply(Reply::failed, one_line(made.error()));
        if (!made->probe) return reply(Reply::refused, made->reason);
        probe_ = std::move(made->probe);
        return reply(Reply::ready);
    }
    Message sampled(Bytes set, std::int64_t repetitions) {
        if (!probe_) return reply(Reply::failed, "no probe is prepared");
        const auto sample = probe_->run(set, repetitions);
        if (!sample) return reply(Reply::failed, one_line(sample.error()));
        Message m = reply(Reply::sample);
        m.put(*sample);
        return m;
    }

    // What a run asks of a worker, so that it is compiled while the first of them are measured.
    void expect_all() {
        std::vector<Device::Expected> all;
        for (const TensorKernel& row : tensor_kernels())
            if (row.path != MatrixPath::warp) all.push_back({probe_of(row), {}});
        device_->expect(all);
    }

    int socket_;
    OpenDevice open_;
    std::string rest_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<PreparedProbe> probe_;
};

// The helper: a worker for as long as requests come, and the news of its death to the process that waits for its
// answer.
[[noreturn]] void supervise(int socket, OpenDevice open, const std::string& rest) {
    setpgid(0, 0);  // Ctrl-C is the parent's affair, which closes the socket
    while (true) {
        pollfd ready{socket, POLLIN, 0};
        if (poll(&ready, 1, -1) < 0 || (ready.revents & POLLIN) == 0) _exit(0);
        char next = 0;
        if (recv(socket, &next, 1, MSG_PEEK) <= 0) _exit(0);
        const pid_t worker = fork();
        if (worker < 0) _exit(1);
        if (worker == 0) _exit(Worker(socket, open, rest).serve());
        int status = 0;
        waitpid(worker, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) _exit(0);
        if (WIFSIGNALED(status) &&
            !send_message(socket, reply(Reply::died, fmt::format("its process ended with signal {} ({})",
                                                                 WTERMSIG(status), strsignal(WTERMSIG(status))))))
            _exit(0);
    }
}

}  // namespace

class ProbeProcess {
public:
    ProbeProcess(int socket, pid_t helper) : socket_(socket), helper_(helper) {}
    ~ProbeProcess() {
        // Not only closed: helpers that were forked later have copies of this end.
        shutdown(socket_, SHUT_RDWR);
        close(socket_);
        if (hung_) kill(-helper_, SIGKILL);
        int status = 0;
        waitpid(helper_, &status, 0);
    }
    ProbeProcess(const ProbeProcess&) = delete;
    ProbeProcess& operator=(const ProbeProcess&) = delete;

    // The answer; a failure if there is none.
    Result<Message> ask(const Message& request, const std::string& what) {
        if (hung_) return failure(what, "not run: an earlier probe made its process hang");
        if (!send_message(socket_, request)) return failure(what, "its process is gone");
        auto answer = receive_message(socket_, kLongestReply);
        if (!answer) {
            hung_ = true;
            return failure(what, fmt::format("its process gave no answer within {}", to_text(kLongestReply, 3)));
        }
        return *answer;
    }

private:
    int socket_;
    pid_t helper_;
    bool hung_ = false;
};

std::shared_ptr<ProbeProcess> start_probe_process(OpenDevice open, std::string_view rest) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return nullptr;
    const pid_t helper = fork();
    if (helper < 0) return close(ends[0]), close(ends[1]), nullptr;
    if (helper == 0) {
        close(ends[0]);
        supervise(ends[1], open, std::string(rest));
    }
    close(ends[1]);
    return std::make_shared<ProbeProcess>(ends[0], helper);
}

namespace {

class IsolatedProbe final : public PreparedProbe {
public:
    IsolatedProbe(std::shared_ptr<ProbeProcess> process, std::string title)
        : process_(std::move(process)), title_(std::move(title)) {}

    Result<Sample> run(Bytes working_set, std::int64_t repetitions) override {
        Message request;
        request.put(Request::run);
        request.put(working_set.value());
        request.put(repetitions);
        auto answer = process_->ask(request, title_);
        if (!answer) return tl::unexpected(answer.error());
        const auto kind = answer->get<Reply>();
        const std::string text = answer->get_text();
        if (kind != Reply::sample) return failure(title_, text);
        return answer->get_sample();
    }

private:
    std::shared_ptr<ProbeProcess> process_;
    std::string title_;
};

class IsolatedDevice final : public Device {
public:
    IsolatedDevice(std::unique_ptr<Device> device, std::shared_ptr<ProbeProcess> process)
        : device_(std::move(device)), process_(std::move(process)) {}

    [[nodiscard]] const DeviceInfo& info() const override { return device_->info(); }
    [[nodiscard]] Seconds now() const override { return device_->now(); }
    [[nodiscard]] std::optional<std::string> lost() const override { return device_->lost(); }

    void expect(const std::vector<Expected>& coming) override {
        std::vector<Expected> here;
        for (const Expected& e : coming)
            if (!process_ || !is_risky(e.probe)) here.push_back(e);
        device_->expect(here);
    }
    Result<CountedRun> counted(const Probe& probe, PreparedProbe& prepared, Bytes set,
                               std::int64_t repetitions) override {
        return device_->counted(probe, prepared, set, repetitions);
    }
    Result<Preparation> prepare(const Probe& probe, Bytes largest) override {
        if (!process_ || !is_risky(probe)) return device_->prepare(probe, largest);
        Message request;
        request.put(Request::prepare);
        request.put(probe);
        request.put(largest.value());
        auto answer = process_->ask(request, title(probe));
        if (!answer) return tl::unexpected(answer.error());
        const auto kind = answer->get<Reply>();
        std::string text = answer->get_text();
        switch (kind) {
            case Reply::ready:
                return Preparation{std::make_unique<IsolatedProbe>(process_, title(probe)), {}};
            case Reply::refused:
                return Preparation{nullptr, std::move(text)};
            case Reply::unopened:
                process_.reset();
                return device_->prepare(probe, largest);
            default:
                return failure(title(probe), std::move(text));
        }
    }

private:
    // Asynchronous matrix instructions: the kernels with the most that can go wrong. The worker's device would be
    // opened only to refuse what no GPU of this kind has.
    [[nodiscard]] bool is_risky(const Probe& probe) const {
        if (probe.action != ProbeAction::mma) return false;
        const int major = info().compute_capability ? info().compute_capability->major : 0;
        return (probe.matrix == MatrixPath::warpgroup && major == 9) ||
               (probe.matrix == MatrixPath::tensor_memory && (major == 10 || major == 11));
    }

    std::unique_ptr<Device> device_;
    std::shared_ptr<ProbeProcess> process_;
};

}  // namespace

std::unique_ptr<Device> isolate(std::unique_ptr<Device> device, std::shared_ptr<ProbeProcess> process) {
    return std::make_unique<IsolatedDevice>(std::move(device), std::move(process));
}

Result<std::unique_ptr<Device>> open_cuda_device(std::string_view rest) {
    // Before the driver is initialized: a process that was forked after it cannot use the GPU.
    auto process = start_probe_process(open_cuda_in_process, rest);
    auto device = open_cuda_in_process(rest);
    if (!device) return device;
    return isolate(std::move(*device), std::move(process));
}

}  // namespace gambrel::measure_detail
