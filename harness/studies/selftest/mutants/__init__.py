"""The planted mistakes, one table a family; :class:`..catalog.Mutant` has what a row says."""
