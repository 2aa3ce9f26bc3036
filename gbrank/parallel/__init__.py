"""Communication of the workers of a distributed fit, and sums that no order of terms changes."""
