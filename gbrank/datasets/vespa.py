"""Files of Vespa's feature collector, which is in pyvespa: `VespaFeatureCollector`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.data.frames import split_frame
from gbrank.datasets.table_files import Tables
from gbrank.datasets.text_files import StrPath

QUERY, DOCUMENT, LABEL, SCORE = "query_id", "doc_id", "relevance_label", "relevance_score"


def read_vespa(path: StrPath) -> tuple[Any, NDArray[np.float64], NDArray[Any]]:
    """Return the features, labels and queries in a file of Vespa's feature collector.

    Features have the names by which a rank profile knows them: without the ``match_`` or ``rank_``
    that the collector puts before ``bm25(title)``. One that is a match and a rank feature is there
    once. So `export_model` writes a model that Vespa reads as it is.

    Parameters
    ----------
    path : path
        A CSV file with the columns query_id, doc_id, relevance_label and relevance_score; all
        others are features.

    Returns
    -------
    X : table of pyarrow, shape (n_documents, n_features)
    y, qid : ndarray, shape (n_documents,)
        The label and the query of each row.

    Raises
    ------
    ValueError
        If a column is missing or holds no numbers, or match and rank feature of a name differ.
    ImportError
        If pyarrow is missing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.datasets import read_vespa
    >>> lines = ["query_id,doc_id,relevance_label,relevance_score,match_bm25(title),rank_x(0).y"]
    >>> lines += ["a,17,1.0,0.3,2.5,100.0", "a,4,0.0,0.7,0.0,100.0"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "collected.csv")
    ...     _ = file.write_text(chr(10).join(lines))
    ...     X, y, qid = read_vespa(file)
    >>> X.column_names, y.tolist(), qid.tolist()
    (['bm25(title)', 'x(0).y'], [1.0, 0.0], ['a', 'a'])
    """
    table = Tables([path], lambda name: name == DOCUMENT, [QUERY]).read()
    columns: dict[str, Any] = {}
    for column in table.column_names:
        name = re.sub("^(match|rank)_", "", column)
        if columns.setdefault(name, table[column]).to_pylist() != table[column].to_pylist():
            raise ValueError(f"{path}: expected match_{name} and rank_{name} to be equal")
    frame = type(table).from_pydict(columns)
    return split_frame(frame, label=LABEL, qid=QUERY, drop=[DOCUMENT, SCORE])
