"""Parts of kernels: sums over pairs, transforms, logistic functions, steps and noise."""
