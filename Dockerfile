# The project with everything set up: Go, the kernel, Jupyter, and what they need of Go's caches. The folder that is
# mounted has your data, your notebooks, their budgets and reports; nothing of it is in the image.
#
#   docker build -t dpnb .
#   docker run --rm -p 127.0.0.1:8888:8888 -v "$PWD:/home/dpnb/work" dpnb      # opens Jupyter there
#   docker run --rm -v "$PWD:/home/dpnb/work" dpnb dpnb report                 # leaves reports/ there
#   docker run --rm -w /home/dpnb/dpnb dpnb dpnb test                         # fetches modules of others' tests, or says so
#
# mybinder.org builds it for a user that it names, NB_USER.
ARG GO_IMAGE=golang:1.26-bookworm
ARG BASE_IMAGE=debian:bookworm-slim
FROM ${GO_IMAGE} AS go
RUN rm -rf /usr/local/go/api /usr/local/go/doc /usr/local/go/misc /usr/local/go/test

# What both stages have.
FROM ${BASE_IMAGE} AS base
RUN apt-get update -q \
 && apt-get install -y -q --no-install-recommends \
      ca-certificates git jupyter-notebook jupyter-nbconvert python3-nbclient \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/man /usr/share/locale \
 && find /usr/share/doc -type f ! -name copyright -delete
COPY --from=go /usr/local/go /usr/local/go
ARG NB_USER=dpnb
ARG NB_UID=1000
ENV PATH=/home/${NB_USER}/go/bin:/usr/local/go/bin:$PATH CGO_ENABLED=0 GOTOOLCHAIN=local
RUN useradd --create-home --uid ${NB_UID} ${NB_USER} \
 && install -d -o ${NB_USER} -g ${NB_USER} /home/${NB_USER}/dpnb /home/${NB_USER}/work \
 && ln -s ../dpnb/notebooks /home/${NB_USER}/work/notebooks
USER ${NB_USER}
WORKDIR /home/${NB_USER}/dpnb

FROM base AS build
ARG NB_UID=1000
# The modules change less often than the code: a layer of their own.
COPY --chown=${NB_UID} go.mod go.sum ./
RUN go mod download
COPY --chown=${NB_UID} . .
# What is built once, the kernel, what completes code and the program, is built with a cache that is left behind. A
# report then fills the one that stays with what cells are compiled from. Of the modules stay the sources that code and
# tests are built of: not the archives in which they came, nor their own tests' data, examples and pictures, nor what
# only the kernel was built of.
RUN GOCACHE=/tmp/tools go run ./dpnb/cmd/dpnb setup --register \
 && GOCACHE=/tmp/tools go install -ldflags=-s ./dpnb/cmd/dpnb
RUN dpnb report 00_start_here --out /tmp/report \
 && go build ./dpnb/paper/...
RUN go list -deps -test -f '{{with .Module}}{{.Dir}}{{end}}' ./... \
      | sed -n "s|^$HOME/go/pkg/mod/||p" | sort -u > /tmp/needed \
 && chmod -R u+w ~/go/pkg/mod \
 && find ~/go/pkg/mod -path '*/cache/download/*' -name '*.zip' -delete \
 && tar -C ~/go/pkg/mod --exclude=testdata --exclude=examples --exclude='*.png' --exclude='*.gif' \
      --exclude='*.ipynb' -cf /tmp/modules.tar -T /tmp/needed cache/download \
 && rm -rf ~/go/pkg/mod && mkdir -p ~/go/pkg/mod && tar -C ~/go/pkg/mod -xf /tmp/modules.tar \
 && GOCACHE=/tmp/tools GOFLAGS=-mod=mod GOPROXY=off go vet ./dpnb/cmd/dpnb

FROM base
ARG NB_USER=dpnb
ARG NB_UID=1000
COPY --from=build --chown=${NB_UID} /home/${NB_USER} /home/${NB_USER}
VOLUME /home/${NB_USER}/work
WORKDIR /home/${NB_USER}/work
EXPOSE 8888
CMD ["dpnb", "lab", ".", "--ip=0.0.0.0", "--no-browser"]
