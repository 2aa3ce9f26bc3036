"""Results that papers prove about their objectives, as functions: bounds, and a condition."""
