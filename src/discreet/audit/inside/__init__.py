"""What runs in the process of a target: plain files that need the standard library and numpy, and nothing of ours."""
