# The project with everything set up: kernel, Jupyter, and the modules they need.
#
#   docker build -t dpnb .
#   docker run --rm -p 8888:8888 dpnb                            # opens Jupyter
#   docker run --rm dpnb go run ./dpnb/cmd/dpnb report
#   docker run --rm dpnb go run ./dpnb/cmd/dpnb test
FROM golang:1.26-bookworm

RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      git jupyter-notebook jupyter-nbconvert python3-nbclient \
 && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 dpnb \
 && install -d -o dpnb -g dpnb /home/dpnb/notebooks
USER dpnb
WORKDIR /home/dpnb/notebooks

# The modules change less often than the code: a layer of their own.
COPY --chown=dpnb:dpnb go.mod go.sum ./
RUN go mod download

COPY --chown=dpnb:dpnb . .
RUN go run ./dpnb/cmd/dpnb setup

EXPOSE 8888
CMD ["go", "run", "./dpnb/cmd/dpnb", "lab", "--ip=0.0.0.0", "--no-browser"]
