"""Certifying: whether given ids are the encoding of given texts, without any reference."""
