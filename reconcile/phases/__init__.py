"""The run's phases, a file each. Each observes, decides by `policy`, then acts; what it did, and
what went wrong for single items, is its Outcome."""
