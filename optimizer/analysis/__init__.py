"""What records show: candidates compared, headroom, what always wrong items share, what a data set gives
away, and what goes on inside a panel.

Public names: compare_run (comparison), pool_runs (pool), headroom_report (headroom_report), measure_judges (card); read_panel
(recorded), diagnose (diagnosis) and its parts arms, confidence, persona_errors, influence and novelty; compare_panels (panels).
"""
