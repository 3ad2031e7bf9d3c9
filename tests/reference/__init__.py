"""The slow truth that everything else is tested against."""
