# gambrel in a small image: `docker build -t gambrel .`, then `docker run --rm -v "$PWD:/work" gambrel analyze report.ncu-rep`.
FROM debian:12 AS build
COPY . /src
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends make && make package JOBS="$(nproc)"

FROM debian:12-slim
COPY --from=build /src/build/packages/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb librsvg2-2 fonts-dejavu-core \
    && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["gambrel"]
CMD ["--help"]
