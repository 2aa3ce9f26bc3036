"""What kernels are made of: sums over pairs, transforms, logistic functions, steps and noise."""
