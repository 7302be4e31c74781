"""Loops compiled by Numba, over rows of a CSR matrix. Imported at first use, so that importing graphcon stays cheap.

Every row is written by one thread and summed in the order of its edges: the result depends neither on the number of
threads nor on the run.
"""
