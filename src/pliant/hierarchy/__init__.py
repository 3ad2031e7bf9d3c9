"""The hierarchy over elements: build, refit, restructure, and the one traversal that everything shares."""
