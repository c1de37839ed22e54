"""The controller: a small parent that waits for new jobs or the next tick, and forks one run at
a time from what it has imported once.

Three processes. The *controller* (`loop`) has one thread and waits; it forks. The *watcher* has
the threads: LISTEN, figures, port 8080. A *run* is a fork that ends. Each of the two children
ends when the controller does, however that happens.
"""

from .loop import control

__all__ = ["control"]
