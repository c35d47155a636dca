"""ISPCA and SPCA as scikit-learn estimators, and univariate screening: a thin layer over ``reduction``."""
