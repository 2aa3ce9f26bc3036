"""How many rounds a training takes, and which of them are the start's."""

from typing import NamedTuple


class Plan(NamedTuple):
    """The rounds of a training: `begin` is the first one of the objective itself.

    Early stopping is decided here, for fits and hooks alike. `done` rounds have been trained, of
    which `best` are to be kept.
    """

    begin: int
    end: int

    def out_of_patience(self, done: int, best: int, patience: int | None) -> bool:
        """Tell whether training ends; patience counts from the round `begin`."""
        return patience is not None and done - max(best, self.begin) >= patience

    def without_patience(self, done: int, best: int, patience: int | None) -> "Plan":
        """Begin the objective itself now if its start has stopped improving.

        It is then trained for as many rounds as the start was.
        """
        if patience is None or done >= self.begin or done - best < patience:
            return self
        return Plan(begin=done, end=done + min(done, self.end - done))
