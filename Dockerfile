# The project with everything set up: kernel, Jupyter, and the modules they need. The folder that
# is mounted has your data, your notebooks and their budgets; nothing of it is in the image.
#
#   docker build -t dpnb .
#   docker run --rm -p 127.0.0.1:8888:8888 -v "$PWD:/home/dpnb/work" dpnb      # opens Jupyter there
#   docker run --rm dpnb go run ./dpnb/cmd/dpnb report
#   docker run --rm dpnb go run ./dpnb/cmd/dpnb test
FROM golang:1.26-bookworm

RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      git jupyter-notebook jupyter-nbconvert python3-nbclient \
 && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 dpnb \
 && install -d -o dpnb -g dpnb /home/dpnb/dpnb /home/dpnb/work
USER dpnb
WORKDIR /home/dpnb/dpnb

# The modules change less often than the code: a layer of their own.
COPY --chown=dpnb:dpnb go.mod go.sum ./
COPY --chown=dpnb:dpnb dpnb/report/toolchain/tools.mod /tmp/tools/go.mod
COPY --chown=dpnb:dpnb dpnb/report/toolchain/tools.sum /tmp/tools/go.sum
RUN go mod download && cd /tmp/tools && go mod download

COPY --chown=dpnb:dpnb . .
RUN go run ./dpnb/cmd/dpnb setup

VOLUME /home/dpnb/work
EXPOSE 8888
CMD ["go", "run", "./dpnb/cmd/dpnb", "lab", "/home/dpnb/work", "--ip=0.0.0.0", "--no-browser"]
