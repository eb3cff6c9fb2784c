"""The debate: protocol, rendering of turns, reading of answers, aggregation, and the async executor.

Public names: Protocol (protocol), render_turn (render), parse_answer (parse), Verdict, Outcome (verdict),
decide (aggregate), Debate, Turn (records), DebateExecutor (executor), run_control (controls).
"""
