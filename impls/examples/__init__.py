"""Worked examples to copy: a program that speaks the stdio protocol."""
