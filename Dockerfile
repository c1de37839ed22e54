# One image for `reconcile controller`, `reconcile run` and `reconcile check`.
#
#   docker build -t riscv-runners:0.1.0 .
#
# The base is pinned by version. To pin the very bytes, look its digest up
# (docker buildx imagetools inspect python:3.13.16-slim-trixie) and put it behind the tag, at both
# places: python:3.13.16-slim-trixie@sha256:…

FROM python:3.13.16-slim-trixie AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /src

# The build backend at a version that was looked at. Left to itself, pip would fetch the newest.
COPY requirements-build.lock ./
RUN pip install --require-hashes --only-binary :all: -r requirements-build.lock

# Before the code, so that a change of the code leaves this layer as it is. Not --no-deps: with
# hashes required, a dependency that the lock forgot ends the build instead of the first run.
COPY requirements-image.lock ./
RUN python -m venv --without-pip /opt/reconcile \
    && pip --python /opt/reconcile/bin/python install --no-compile \
        --require-hashes --only-binary :all: -r requirements-image.lock

COPY . ./
# Compiled by hash and not by time: the file system of a pod is read-only, so what is not usable
# as it is here would be compiled anew by every run.
RUN python -m hatchling build -t wheel -d /dist \
    && pip --python /opt/reconcile/bin/python install --no-compile --no-deps --no-index /dist/*.whl \
    && pip --python /opt/reconcile/bin/python check \
    && python -m compileall -q --invalidation-mode unchecked-hash /opt/reconcile/lib

FROM python:3.13.16-slim-trixie

LABEL org.opencontainers.image.title="riscv-runners" \
      org.opencontainers.image.description="Ephemeral GitHub Actions runners on RISC-V boards: the controller and its runs" \
      org.opencontainers.image.licenses="MIT"

# The base comes without bytecode of the standard library; for the same reason it gets it here.
RUN ["python", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "/usr/local/lib/python3.13"]

COPY --from=build /opt/reconcile /opt/reconcile

ENV PATH=/opt/reconcile/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["reconcile"]
CMD ["controller"]
