"""The script here needs MAPIE: pytest must not import it in its search for doctests."""

collect_ignore_glob = ["*.py"]
