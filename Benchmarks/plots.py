# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Draws the results of scripts/bench; scripts/plots runs it.

usage: plots.py RESULTS.json DIRECTORY
"""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# Text stays text, and the same numbers give the same file.
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "forwarding", "font.family": "sans-serif", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False,
})

import matplotlib.pyplot as plt  # noqa: E402

OURS, OTHERS, FLOOR = "#d9480f", "#495057", "#2b8a3e"

# The ways of the lines: name in the results, label, colour, style.
LINES = [
    ("Foundation: NotificationCenter", "NotificationCenter", "#adb5bd", "-"),
    ("OpenCombine: PassthroughSubject, weak sinks", "OpenCombine, weak sinks", "#9775fa", "-"),
    ("GLib: g_signal_emit, generic marshaller", "GLib, generic", "#1098ad", "-"),
    ("GLib: g_signal_emit, generated marshaller", "GLib, generated", "#1098ad", "--"),
    ("Boost.Signals2: tracked slots", "Boost.Signals2, tracked", "#f59f00", "-"),
    ("Swift: loop over [WeakBox<any P>]", "loop over [WeakBox<any P>]", "#1c7ed6", "-"),
    ("Swift: loop over closures, [weak receiver]", "loop over weak closures", "#1c7ed6", "--"),
    ("Swift: loop over [any P], strong", "loop over [any P], strong", "#1c7ed6", ":"),
    ("Qt: connections with a receiver", "Qt", "#74b816", "-"),
    ("C: loop over ffi_call", "ffi_call", OTHERS, "--"),
    ("proxy: resolved method", "proxy, weak", OURS, "-"),
    ("proxy: strong", "proxy, strong", OURS, "--"),
    ("proxy: batch", "proxy, weak, batch", OURS, ":"),
    ("C: loop over function pointers", "C function pointers", FLOOR, "-"),
]

# The ways of the bars.
ENTRIES = [
    "proxy: resolved method", "proxy: resolved method, pointer array", "proxy: C function pointer",
    "proxy: fwd_forward", "proxy: fwd_forward_arguments", "proxy: fwd_forward_named", "proxy: selector",
    "proxy: name", "proxy: Invocation", "proxy: send by key", "proxy: send by literal",
]
WEAK_BOXES = "Swift: loop over [WeakBox<any P>]"


def source(results):
    """Where the numbers come from."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], capture_output=True, text=True).stdout.strip()
    commit = git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "Sources", "CShims") else "")
    return f"{results['machine']}; {results['date'][:10]}; commit {commit}; median CPU time, one interleaved run"


def save(figure, path, results):
    figure.text(0.01, 0.01, source(results), fontsize=7, color=OTHERS)
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)
    print(path)


def draw_lines(rows, results, path):
    figure, axes = plt.subplots(figsize=(9, 5.4))
    figure.subplots_adjust(left=0.08, right=0.72, top=0.93, bottom=0.14)
    for way, label, colour, style in LINES:
        own = {row["size"]: row["nanoseconds"] for row in rows if row["way"] == way}
        if not own:
            continue
        sizes = sorted(own)
        medians, lower, upper = (
            [own[size][quantile] for size in sizes] for quantile in ("median", "lowerQuartile", "upperQuartile"))
        axes.plot(sizes, medians, style, color=colour, marker="o", markersize=3, label=label,
                  linewidth=2.2 if way.startswith("proxy") else 1.2)
        axes.fill_between(sizes, lower, upper, color=colour, alpha=0.15, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="subscribers", ylabel="ns per delivery",
             title="One message to many receivers: (self, int64, double) → void")
    axes.grid(True, which="major", color="#e9ecef")
    sizes = sorted({row["size"] for row in rows if row["way"] == LINES[-1][0]})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9)
    save(figure, path, results)


def draw_entries(rows, results, path):
    sizes = [1, 64]
    found = {(row["way"], row["size"]): row["nanoseconds"] for row in rows}
    ways = [way for way in ENTRIES if all((way, size) in found for size in sizes)]
    figure, plots = plt.subplots(1, len(sizes), figsize=(9, 4.6), sharey=True)
    figure.subplots_adjust(left=0.27, right=0.97, top=0.9, bottom=0.16, wspace=0.08)
    for axes, size in zip(plots, sizes):
        medians = [found[way, size]["median"] for way in ways]
        spread = [[found[way, size]["median"] - found[way, size]["lowerQuartile"] for way in ways],
                  [found[way, size]["upperQuartile"] - found[way, size]["median"] for way in ways]]
        bars = axes.barh([way.removeprefix("proxy: ") for way in ways], medians, xerr=spread, color=OURS,
                         error_kw={"ecolor": OTHERS, "elinewidth": 1})
        axes.bar_label(bars, [f"{median:.3g}" for median in medians], padding=4, fontsize=8)
        if (WEAK_BOXES, size) in found:
            axes.axvline(found[WEAK_BOXES, size]["median"], color="#1c7ed6", linestyle="--", linewidth=1,
                         label="loop over [WeakBox<any P>]")
            medians.append(found[WEAK_BOXES, size]["median"])
        axes.set_xlim(0, max(medians) * 1.18)
        axes.set_xlabel("ns per delivery")
        axes.set_title(f"{size} subscriber{'s' if size > 1 else ''}", loc="left")
    plots[0].invert_yaxis()
    figure.legend(*plots[0].get_legend_handles_labels(), loc="lower right", frameon=False, fontsize=8)
    save(figure, path, results)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results = json.loads(Path(sys.argv[1]).read_text())
    directory = Path(sys.argv[2])
    rows = [row for row in results["rows"] if row["group"] == "fanout" and row["threads"] == 1]
    if not rows:
        sys.exit(f"{sys.argv[1]} has no rows of fan-outs")
    draw_lines(rows, results, directory / "fan-out.svg")
    draw_entries(rows, results, directory / "entry-points.svg")


if __name__ == "__main__":
    main()
