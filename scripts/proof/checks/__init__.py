# SPDX-License-Identifier: GPL-2.0
"""The lanes of check.py, by what they have in common."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
