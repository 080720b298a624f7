"""Evaluating rules to their fixpoint."""
