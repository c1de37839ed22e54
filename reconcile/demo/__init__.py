"""The whole system on one machine: `reconcile demo`."""
