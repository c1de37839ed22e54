"""GitHub's webhooks, turned into rows. Imports nothing from the other packages."""
