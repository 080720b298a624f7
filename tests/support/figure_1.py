"""The program of paper 1, figure 1."""

from __future__ import annotations

FIGURE_1 = """\
r1: p1(X, Y) :- p0(X, Y).
r2: p2(X, Z) :- p1(X, Y), p3(Y, Z).
r3: p3(X, Y) :- p4(X, Y).
r4: p4(X, Y) :- p2(X, Y).
r5: p5(X, Y) :- p6(Y, Z), not p2(X, Z).
r6: p6(X, Y) :- p5(X, Y).
r7: p7(X, Z) :- p3(X, Y), p5(Y, Z).
"""


R8 = "r8: p2(X, Z) :- p3(X, Y), p2(Y, Z).\n"
"""Section 4.4.1."""
