"""Re-decides recorded debates without a call: aggregation policies as a search space, tuned by Optuna in nested cross-validation.

Public names: recorded_debates (data), PolicyData (data), Objective (objective), tune, Tuning (tuning).
"""
