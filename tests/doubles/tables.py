"""Cases as a table of text, a line each: what its columns are is said where it stands."""


def rows(table):
    """The cells of each line, without the white space around them."""
    lines = filter(None, map(str.strip, table.splitlines()))
    return [tuple(cell.strip() for cell in f"{line} ".split("|")) for line in lines]
