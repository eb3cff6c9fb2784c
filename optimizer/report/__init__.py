"""Results in words and tables: the HTML page of a run, comparisons, headroom, data cards, diagnoses.

Public names: write_report (page), table_rows, markdown (comparison), statements (headroom), card_text (card); sections, markdown
(diagnosis), whose tables are in answers, confidence, novelty and panels.
"""
