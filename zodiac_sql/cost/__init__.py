"""How the cheapest of several ways is found.

operator.py      what a way to do a piece of work is, and how the cheapest that can do it is run
calibration.py   what statements and rows cost, measured
"""
