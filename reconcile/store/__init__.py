"""The rows: the only place that speaks SQL. One connection, and one thread that uses it."""

from . import demand, github, jobs, retention, runs, workers
from .database import Database, connect

__all__ = ["Database", "connect", "demand", "github", "jobs", "retention", "runs", "workers"]
