"""Takes uploads in: refuses what cannot be a drop, records what can."""
