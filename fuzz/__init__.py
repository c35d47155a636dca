"""Read mutated data and model files in limited child processes: ``python -m fuzz --seconds 60 --seed 0``."""

import os

# One thread per process; this must be set before NumPy and polars are imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(_name, "1")
