"""The web page of ``ispca app``: a local server that runs the commands in worker processes and shows the results."""
