"""What can go wrong while the site is published."""


class PublishError(Exception):
    """The database or the site's place did not do what it was asked; the next time it may. What
    is published already stays whole."""

    uploaded = 0  # objects that were put before


class DatabaseError(PublishError):
    """It was the database."""


class BusyError(Exception):
    """Another publisher is at work."""
