"""Reports for people: what a run did, as tables in a terminal."""
