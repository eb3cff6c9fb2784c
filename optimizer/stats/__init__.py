"""Statistics as pure functions on arrays. They import nothing of ours, and each is tested against an independent library.

Public names by what is asked: a score (accuracy), a difference (paired, bootstrap, noninferiority), many candidates
(multiplicity, selection), a race (anytime), what a test can see (power), many judges (agreement), confidence (calibration,
correlation), threshold or sight (detection), the oracle (oracle), shares (ratios), what an error depends on (regression).
Clustered data is passed as ClusterSums (clusters).
"""
