"""Why was my job not picked up? The read side of the event log.

`state` folds an account's events into what is installed, `rules` look at that and at the job's
queue and give findings, `reading` has the rows, and `tracer` puts an answer together. All of it
only reads. Imported by the function when somebody asks, and by `reconcile trace`.
"""
