"""Other projects' own tests, run on ours."""
