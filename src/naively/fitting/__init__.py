"""What trains beside counting: a sample, leave-one-out, weights, interactions."""
