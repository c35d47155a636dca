"""The web page of ``ispca app``: a local server that runs commands in worker processes and shows results."""
