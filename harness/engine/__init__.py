"""The engine: what a run is made of, its batches at each implementation's pace, and its time."""
