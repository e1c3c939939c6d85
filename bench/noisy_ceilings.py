#!/usr/bin/env python3
"""Ceilings of the host beside busy processes, and likwid-bench beside the same ones.

usage: bench/noisy_ceilings.py GAMBREL [--likwid LIKWID_RATIO] [--rounds 2] [--busy 0,1,2,4] [--budget 6s] [--ceiling FP64]

Starts 0, 1, 2 and 4 busy processes in turn and runs `gambrel measure --quick` beside each. Every ceiling must lie within 10 %
of the reference or carry the mark "disturbed". The reference is the best value that any run without busy processes gave and did
not mark; if all of those are marked, because the machine is busy anyway, the best unmarked value of any run. Prints how much of
the machine others used before and during each run, because a machine that is shared is never quiet. With --likwid, runs
bench/likwid_ratio beside the same processes and prints the ratio of bests, of the ceilings whose title has --ceiling in it. Exit status 1 if a ceiling is neither near nor marked,
or a ratio is below 0.98; 77 if every ceiling of every run is marked, which shows nothing, or likwid-bench is missing.
"""
import argparse
import csv
import io
import os
import resource
import subprocess
import sys
import time

NEAR = 0.10
LEAST_RATIO = 0.98


def cpu_seconds():
    """Seconds that all cores were busy since boot."""
    with open("/proc/stat") as f:
        user, nice, system, _idle, _wait, irq, soft, steal = (int(x) for x in f.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Watch:
    """Cores that others, including the busy processes, used."""

    def __enter__(self):
        self.start, self.busy, self.own = time.time(), cpu_seconds(), own_seconds()
        return self

    def __exit__(self, *_):
        self.seconds = time.time() - self.start
        self.others = max(0, (cpu_seconds() - self.busy - own_seconds() + self.own) / self.seconds)


class BusyProcesses:
    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.all = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.count)]
        time.sleep(0.3)

    def __exit__(self, *_):
        for process in self.all:
            process.kill()
            process.wait()


def measured(gambrel, budget):
    run = subprocess.run([gambrel, "measure", "--quick", "--budget", budget, "--quiet", "--csv", "-"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{gambrel} measure: exit status {run.returncode}\n{run.stderr}")
    return {row["title"]: row for row in csv.DictReader(io.StringIO(run.stdout))}


def off_by(row, reference):
    """How much worse than the reference: a rate that is lower, a time that is longer. Negative if it is better."""
    value = float(row["ceiling"])
    return value / reference - 1 if row["unit"] == "s" else 1 - value / reference


def reference_of(title, runs):
    def best(rows):
        values = [float(r["ceiling"]) for r in rows]
        return (min if rows[0]["unit"] == "s" else max)(values) if rows else None

    def clean(busy_counts):
        return [r[title] for n, r in runs if n in busy_counts and title in r and not r[title]["fault"] and r[title]["disturbed"] == "0"]

    return best(clean({0})) or best(clean({n for n, _ in runs}))


def likwid_lines(program, rounds, ceiling, counts):
    run = subprocess.run([program, str(rounds), "0", ceiling, *map(str, counts)], capture_output=True, text=True)
    if run.returncode == 77:
        sys.exit(77)
    return [line for line in run.stdout.splitlines() if " ms " in line]


def judge(runs):
    """Prints one line for each run. False if a ceiling is neither near its reference nor marked, None if all are marked."""
    titles = list(dict.fromkeys(t for _, r in runs for t in r))
    references = {t: reference_of(t, runs) for t in titles}
    unknown = [t for t in titles if references[t] is None]
    if unknown:
        print(f"marked in every run, so that there is nothing to compare with: {', '.join(unknown)}")
    good = True
    for busy, rows in runs:
        near = marked = failed = 0
        wrong = []
        for title, row in rows.items():
            if row["fault"]:
                failed += 1
            elif row["disturbed"] == "1":
                marked += 1
            elif off_by(row, references[title]) <= NEAR:
                near += 1
            else:
                wrong.append(f"{title} {100 * off_by(row, references[title]):.0f} % off")
        good = good and not wrong
        print(f"{busy} busy: {near} within 10 %, {marked} marked disturbed, {failed} failed, {len(wrong)} neither"
              + (f": {'; '.join(wrong)}" if wrong else ""))
    return good if len(unknown) < len(titles) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gambrel")
    parser.add_argument("--likwid")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--busy", default="0,1,2,4")
    parser.add_argument("--budget", default="6s")
    parser.add_argument("--ceiling", default="")
    flags = parser.parse_args()
    counts = [int(n) for n in flags.busy.split(",")]
    runs = []
    print(f"{os.cpu_count()} cores, user id {os.getuid()}; cores that others used, before and during each run")
    for round_number in range(flags.rounds):
        for count in counts:
            with Watch() as before:
                time.sleep(1)
            with BusyProcesses(count), Watch() as during:
                rows = measured(flags.gambrel, flags.budget)
            runs.append((count, rows))
            print(f"round {round_number + 1}, {count} busy: {before.others:.2f} before, {during.others:.2f} during, "
                  f"{during.seconds:.0f} s, {sum(r['disturbed'] == '1' for r in rows.values())} of {len(rows)} marked", flush=True)
    good = judge(runs)
    all_marked = good is None
    ratios = likwid_lines(flags.likwid, flags.rounds, flags.ceiling, counts) if flags.likwid else []
    if ratios:
        print(f"gambrel's loop beside likwid-bench's best kernel, in turn; best of {10 * flags.rounds} runs")
    for line in ratios:
        fields = line.split()
        ms = fields.index("ms")
        ratio, busy, kernel = float(fields[ms + 4]), fields[2], " ".join(fields[ms + 6:])
        all_marked = all_marked and ratio >= LEAST_RATIO
        good = good and ratio >= LEAST_RATIO
        print(f"{busy} busy: {' '.join(fields[:2])}: {ratio:.3f} of {kernel}" + ("" if ratio >= LEAST_RATIO else "  below 0.98"))
    if all_marked:
        print("every ceiling was marked: this machine is too busy to show more")
        sys.exit(77)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
