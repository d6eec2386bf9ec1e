"""Where each curve bends, and why: written by looking at the pictures, one sentence for each.

A sentence is of the picture that is committed; look again when the curves are measured again.
"""

BENDS: dict[tuple[str, str], str] = {}
