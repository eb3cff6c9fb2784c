"""Misinformation in benign debate: who is shown what, how the group decides, and how a falsehood spreads from one to all.

Public names: run_misinformation, Design (run), Arm, Condition (arms), read_records (records), exposure_results (results),
decompose (decomposition), propagation_report (spread).
"""
