"""What the records of a run show: headroom, so far.

Public names: Headroom, oracle_headroom (headroom).
"""
