"""What the papers prove of their objectives, as functions: bounds, and a condition."""
