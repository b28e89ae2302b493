"""How cost grows with the length of the input: measured, judged, held to bounds."""
