"""The commands of ``ispca``, one module each with ``run(args)``; ``arguments`` has what they can be told."""
