"""Tables of texts, in Markdown and HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table whose first `words` columns are text, the others right-aligned numbers."""
    rule = "|---" * words + "|---:" * (len(head) - words) + "|"
    title, *lines = (
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        for cells in (head, *rows)
    )
    return "\n".join([title, rule, *lines])


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as HTML, which notebooks show."""
    title, *lines = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        for tag, cells in (("th", head), *(("td", row) for row in rows))
    )
    above = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{above}<thead><tr>{title}</tr></thead><tbody>{body}</tbody></table>"
