"""Decisions. Pure: no I/O, no clock, no log, no chance but what is passed in."""
