"""What the workers of a distributed fit tell each other, and sums in which order plays no part."""
