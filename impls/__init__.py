"""Who is tested: our algorithms, the reference libraries, and programs in any language."""
