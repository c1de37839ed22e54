"""`reconcile demo plan`: what waits and use would have been with other boards, caps or order."""
