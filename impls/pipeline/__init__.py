"""The steps of a tokenizer.json one after another, each by its plain definition.

The plain model of a vocabulary has one order of few steps, so that many libraries can be built from
it. Files have many more, in any order. :mod:`impls.pipeline.encoder` reads such a file itself and
does what it says: it is there to be read, not to be fast, and defines what those libraries are to
give who read the file, too.
"""
