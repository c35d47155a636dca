"""The commands of ``ispca``, one module each with ``add_arguments(parser)`` and ``run(args)``."""


class UsageError(ValueError):
    """The command line is invalid; exit code 2."""
