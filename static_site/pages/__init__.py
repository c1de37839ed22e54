"""From rows to page models. Pure: no clock, no I/O, and nothing of a private repository."""
