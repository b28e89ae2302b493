#!/bin/bash -eu
# The project has one way of building its targets, for ClusterFuzzLite and for OSS-Fuzz.
exec "$SRC/tokgate/.clusterfuzzlite/build.sh"
