"""What is right, in plain Python: mistakes are planted into it, and it rides beside them."""
