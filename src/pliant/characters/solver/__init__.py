"""Position Based Skinning (paper 003, section 3): flesh that keeps its volume and does not pass through itself."""
