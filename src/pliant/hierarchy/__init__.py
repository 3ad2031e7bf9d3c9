"""The hierarchy over elements: build, refit, cost, and the one traversal that everything shares."""
