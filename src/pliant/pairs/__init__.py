"""From pairs of elements to pairs of features, each exactly once."""
