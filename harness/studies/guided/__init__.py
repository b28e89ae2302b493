"""Fuzz targets for ClusterFuzzLite and OSS-Fuzz: one of Atheris for each algorithm."""
