"""Adapters of other fast tokenizers, for ``tokgate bench``; one file a library.

They come with the extra ``bench``, and take part in ``tokgate run`` only when named.
"""
