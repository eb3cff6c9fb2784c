"""What records show: candidates compared, headroom, what always wrong items share, what a data set gives away.

Public names: compare_run (comparison), pool_runs (pool), headroom_report (headroom_report), measure_judges (card).
"""
