"""The steps of a round's recipe, each a lesson: what it learns from, and how it goes on."""
