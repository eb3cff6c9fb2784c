"""The published formats of benchmarks, one small module each, and how a file's format is recognised."""
