"""What runs inside the process of a function."""
