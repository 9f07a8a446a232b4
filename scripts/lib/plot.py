# SPDX-License-Identifier: GPL-2.0
"""A picture of figures, by gnuplot: one panel to a lane and unit.

A bar is a median, its whisker goes from the least round to the greatest. The
scale is logarithmic: a trap and a NOP are three orders apart.
"""

import subprocess

import layout

COLOURS = ("#3b6ea5", "#c8793a", "#7a7a7a", "#6a994e", "#8e5ea2", "#c44536")
WIDTH, HEIGHT = 960, 440
CASE = 90                       # what a case needs of the width


def install():
    """gnuplot, if it is missing."""
    subprocess.run([str(layout.TOP / "scripts/lab/fetch.sh"), "bench"],
                   check=True)


def in_order(values):
    """Each value once, as first met."""
    return list(dict.fromkeys(values))


def quoted(text):
    """A string as gnuplot reads it."""
    return '"' + text.replace('"', "'") + '"'


def data(figures, cases):
    """A tracer's lines: place, median, min, max; a gap where nothing is."""
    by_case = {figure.case: figure for figure in figures}
    lines = []
    for place, case in enumerate(cases):
        if case in by_case:
            figure = by_case[case]
            lines.append(f"{place} {figure.median} {figure.min} {figure.max}")
    return "\n".join(lines)


def panel(lane, figures):
    """gnuplot's words for one panel: its data, then the plot."""
    cases = in_order(figure.case for figure in figures)
    tracers = in_order(figure.tracer for figure in figures)
    wide = 0.8 / len(tracers)
    words, curves = [], []
    for i, tracer in enumerate(tracers):
        mine = [figure for figure in figures if figure.tracer == tracer]
        block = f"$d{i}"
        words += [f"{block} << END", data(mine, cases), "END"]
        x = f"($1+{(i - (len(tracers) - 1) / 2) * wide:.3f})"
        colour = f"lc rgb {quoted(COLOURS[i % len(COLOURS)])}"
        curves += [f"{block} using {x}:2:({wide:.3f}) with boxes {colour} "
                   f"title {quoted(tracer)}",
                   f"{block} using {x}:2:3:4 with yerrorbars ps 0 "
                   'lc rgb "#202020" notitle']
    ticks = ", ".join(f"{quoted(case)} {i}" for i, case in enumerate(cases))
    words += [f"set title {quoted(lane)}",
              f"set ylabel {quoted(figures[0].unit)}",
              f"set xtics ({ticks}) rotate by -30 noenhanced",
              f"set xrange [-0.7:{len(cases) - 0.3:.1f}]",
              "plot " + ", ".join(curves)]
    return "\n".join(words)


def script(figures, title):
    """The whole program for gnuplot; it writes the picture to its output."""
    panels = {}
    for figure in figures:
        panels.setdefault((figure.lane, figure.unit), []).append(figure)
    cases = max(len(in_order(figure.case for figure in some))
                for some in panels.values())
    words = [f"set terminal svg size {max(WIDTH, CASE * cases)},"
             f'{HEIGHT * len(panels)} background "white" font "sans,12"',
             f"set multiplot layout {len(panels)},1 title {quoted(title)}",
             "set style fill solid 0.8", "set logscale y", "set grid ytics",
             "set key outside top center horizontal", "set rmargin 18"]
    words += [panel(lane, some) for (lane, _), some in panels.items()]
    return "\n".join([*words, "unset multiplot", ""])


def draw(figures, title, path):
    """Draw to an SVG file."""
    install()
    result = subprocess.run(["gnuplot"], input=script(figures, title),
                            text=True, check=True, stdout=subprocess.PIPE)
    path.write_text(result.stdout)
