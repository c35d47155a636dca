# The command line and the web page without an installation; docs/install.md shows how to use it.
# The first stage has a compiler and makes the wheel, the second has only what runs.
FROM python:3.13-slim-bookworm AS build
# The compiler is not pinned: Debian keeps only the newest of a release, and this stage is thrown away.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim-bookworm
# The wheel comes from the first stage without a copy of it in a layer of its own.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    --mount=type=bind,source=constraints.txt,target=/constraints.txt \
    pip install --no-cache-dir --constraint /constraints.txt "$(ls /wheels/*.whl)[app,cli,plots]"
# Data are mounted at /data; what the web page keeps goes to the home folder, on which a volume can be mounted.
RUN useradd --create-home --uid 1000 ispca && install --directory --owner=ispca /data /home/ispca/.local/share/ispca
USER 1000
ENV MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /data
# The address that `app` listens on inside the container, if it is asked for.
EXPOSE 8000
ENTRYPOINT ["ispca"]
CMD ["--help"]
