"""The tables that the linear algorithms of byte-pair encoding are built on."""
