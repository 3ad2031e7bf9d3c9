"""What of a character is inside of itself: on-demand spatial hashing (paper 003, section 4)."""
