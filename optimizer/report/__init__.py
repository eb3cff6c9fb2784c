"""The report and the comparison of a run's candidates.

Public names: write_report (page), compare_candidates (comparison).
"""
