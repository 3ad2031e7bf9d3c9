"""Files written again with vertices elsewhere: all else that is in them stays as it is."""
