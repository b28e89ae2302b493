"""The algorithms of byte-pair encoding that users can name, one file each, with their kernels."""
