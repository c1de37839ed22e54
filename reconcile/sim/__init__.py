"""A world to run in without the world: a GitHub, a cluster, a database, a clock."""
