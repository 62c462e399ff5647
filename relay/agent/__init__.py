"""The queue runner's agent: claims jobs, runs them on Ray, and says when they are gone."""
