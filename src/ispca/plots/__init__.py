"""Pictures of fitted objects and results, with matplotlib."""
