"""One mesh over many frames: sequences, and scans of them."""
