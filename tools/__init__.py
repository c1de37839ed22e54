"""What builds the project's artefacts; not part of what is installed."""
