"""The run folder: its event log, resuming, the seal register, and export of the winner.

Public names: RunFolder, open_run, find_run (folder), EventLog (events), SealRegister (seal), export_winner (export).
"""
