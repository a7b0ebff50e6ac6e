# SPDX-License-Identifier: Apache-2.0
"""What a user has wrong."""

import difflib

ANOTHER_NAME = "; another name would be valid"
LONGEST = 100  # characters of a name that are compared


class Mistake(Exception):
    """A sentence for the user, behind the place that it is about."""

    def __init__(self, place, line, sentence):
        super().__init__(f"{place}:{line}: {sentence}")


def meant(typed, names, otherwise):
    """The end of a sentence about an unknown name."""
    near = difflib.get_close_matches(typed[:LONGEST], [name for name in names if len(name) <= LONGEST], 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; {otherwise}"
