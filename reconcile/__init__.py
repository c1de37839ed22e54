"""The reconciler: the one-shot run, the controller, the command line and the simulators."""
