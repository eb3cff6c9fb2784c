"""The debate: protocol, rendering of turns, reading of answers, aggregation, roles, and the async executor.

Public names: plan_panel, open_panel (panel), DebateExecutor (executor), Protocol (protocol), render_turn (render), parse_answer
(parse), Verdict, Outcome (verdict), decide (aggregate), Debate, Turn (records), run_control (controls).
"""
