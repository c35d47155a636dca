"""Fitted models in files of plain arrays and JSON: nothing in them is ever executed."""

from .model_file import ModelFileError, load_model, read_details, save_model

__all__ = ["ModelFileError", "load_model", "read_details", "save_model"]
