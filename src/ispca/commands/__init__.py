"""The commands of ``ispca``, one module each: ``add_arguments(parser)`` and ``run(args)``."""


class UsageError(ValueError):
    """The command line makes no sense; exit code 2."""
