"""RankLib's XML of a LambdaMART model.

A document goes left if its value, in single precision, is at most the threshold. Features are
numbered from 1, and a missing value is zero.
"""

from collections.abc import Iterator

from gbrank.boosters.tree import Leaf, Threshold, Tree, at_most
from gbrank.export.forest import Forest


def write_ranklib(forest: Forest) -> bytes:
    """Return the content of the file, of trees without categories that take missing as zero."""
    lines = ["## LambdaMART", f"## No. of trees = {len(forest.trees)}", "", "<ensemble>"]
    for number, tree in enumerate(forest.trees, 1):
        lines.append(f'\t<tree id="{number}" weight="1.0">')
        lines += ["\t\t<split>", *_node(tree, "\t\t\t"), "\t\t</split>"]
        lines.append("\t</tree>")
    return "\n".join([*lines, "</ensemble>", ""]).encode()


def _node(tree: Tree, indent: str) -> Iterator[str]:
    if isinstance(tree, Leaf):
        yield f"{indent}<output> {tree.value!r} </output>"
        return
    assert isinstance(tree, Threshold)
    yield f"{indent}<feature> {tree.feature + 1} </feature>"
    yield f"{indent}<threshold> {at_most(tree.threshold)!r} </threshold>"
    for side, child in (("left", tree.left), ("right", tree.right)):
        yield f'{indent}<split pos="{side}">'
        yield from _node(child, indent + "\t")
        yield f"{indent}</split>"
