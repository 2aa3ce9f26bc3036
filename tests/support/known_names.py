"""What an unknown name means."""

import re

from gbrank import get_measure


def meant(text: str) -> str:
    """Return the text of a measure, or the one of the hint in its error."""
    try:
        return str(get_measure(text))
    except ValueError as error:
        return re.findall(r"Did you mean '([^']+)'", str(error))[0]
