"""Vocabularies: one file a format, one plain model (:mod:`corpora.vocabularies.model`)."""
