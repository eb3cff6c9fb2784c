"""The search: candidates, proposers, duels, coordinate ascent, the budget, the plan before and the sealed test after.

Public names: Candidate (candidate), Evaluator (evaluate), CoordinateAscent (ascent), open_test (ending), optimize (job).
"""
