"""Misinformation in benign debate: who is shown what, how the group decides, and how a falsehood spreads from one to all.

Public names: run_misinformation (run), Design, Arm, Condition (arms), exposed_slots, PassageBank (exposure), read_records,
Transcript (records), read_by (readings), misinformation_results (results), decompose (decomposition), spreads (propagation),
transfer_shares, style_regressions, drops_by_judges, drops_by_writer (effects).
"""
