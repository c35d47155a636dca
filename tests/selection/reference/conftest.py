"""The scripts here need R: pytest must not import them in its search for doctests."""

collect_ignore_glob = ["*.py"]
