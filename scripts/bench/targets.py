# SPDX-License-Identifier: GPL-2.0
"""What Etch is held to, beside what was measured. None makes anything fail."""

import figures


def line(what, measured, most, aim=None, least=None):
    """One target in words.

    least: the same of the least samples, which other load moves less.
    """
    if measured is None:
        return f"### NOT MEASURED: {what}, held to at most {most:g}"
    wish = f"at most {most:g}" + (f", aim {aim:g}" if aim is not None else "")
    verdict = "held" if measured <= most else "NOT HELD"
    also = "" if least is None else f", least samples {figures.number(least)}"
    return (f"held to: {what}: {figures.number(measured)} ({wish}{also}): "
            f"{verdict}")
