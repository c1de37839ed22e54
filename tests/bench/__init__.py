"""Measurements: `make bench`, or `make bench ARGS="webhook fuzz"`.

Figures are ratios inside one run wherever they can be: machines differ and are noisy.
"""
