"""Raw results of a run in, `docs/benchmarks.md` and its plots out. Needs nothing but Python."""
