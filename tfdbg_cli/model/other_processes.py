"""What is said of processes beside the one that is debugged."""

STARTED_ANEW = (
    "Processes that a program starts anew, such as the workers of joblib, are not debugged: have it train in this one"
    " (n_jobs=1)."
)
