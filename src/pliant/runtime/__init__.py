"""What everything runs on: checked arrays, compiled kernels, threads, files, terminals."""
