"""A world to run in without the world: the embedded database."""
