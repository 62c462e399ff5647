"""The jobs' image: how its dependencies are locked, and how it is checked where no cluster is."""
