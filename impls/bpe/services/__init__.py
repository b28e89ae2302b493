"""Services on top of byte-pair encoding: one file a service, all by the last token of a prefix."""
