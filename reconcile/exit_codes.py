"""What `reconcile` ends with."""

DONE = 0  # also when another run holds the lock
FAILED = 1  # some item or phase failed, the rest was done
UNUSABLE = 2  # it could not run: settings or database
INTERRUPTED = 130
