"""Statistics as pure functions on arrays. They import nothing of ours, and each is tested against an independent library.

Public names: paired_difference, cluster_bootstrap, sign_flip_test (paired), wilson_interval (intervals),
holm (multiplicity), smallest_significant_gain, detectable_gain (power).
"""
