"""Save and load fitted models as plain arrays and JSON, without pickle."""

from ..foundation.messages import ModelFileError
from .model_file import load_model, read_details, save_model

__all__ = ["ModelFileError", "load_model", "read_details", "save_model"]
