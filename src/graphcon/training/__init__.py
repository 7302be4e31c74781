"""Training: recipes, one loop, run folders, and what is done with them afterwards."""
