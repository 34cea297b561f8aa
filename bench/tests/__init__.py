"""Tests of the harness and of the report: their logic, not anybody's speed."""
