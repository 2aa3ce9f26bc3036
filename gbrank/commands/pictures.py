"""Files of pictures that commands write."""

from pathlib import Path

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from gbrank.common.files import check_folder, replaced


def check_picture(path: str, option: str) -> None:
    """Refuse a picture that could not be written, before hours of work."""
    check_folder(path, option)
    kinds = FigureCanvasBase.get_supported_filetypes()
    if _kind(path) not in kinds:
        raise ValueError(f"{option} must end in one of {', '.join(sorted(kinds))}, got {path}.")


def write_picture(figure: Figure, path: str) -> None:
    """Write a picture, whole or not at all, in the format of its name."""
    with replaced(path) as file:
        figure.savefig(file, format=_kind(path), dpi=150)


def _kind(path: str) -> str:
    return Path(path).suffix[1:].lower()
