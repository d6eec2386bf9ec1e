"""What stands around the core, and is imported when it is asked for: see `naively.doors`."""
