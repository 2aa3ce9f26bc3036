"""Early stopping in people's own training calls, by the stages of a hook."""

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.common.checks import check_number


class StagedStopping:
    """Ends a booster's training as `GBRanker` ends its own, and says what the model keeps."""

    def __init__(self, hook: GradientHook, rounds: int, verbose: bool) -> None:
        self._hook, self._verbose = hook, verbose
        self._patience = check_number(rounds, "rounds", 1, integer=True)
        self._end: int | None = None  # if the start has ended early

    def restart(self) -> None:
        """Forget an earlier training."""
        self._end = None

    def ends(self, done: int, best: int) -> bool:
        """Return whether training ends after some rounds, of which `best` are to be kept.

        Patience counts from the round in which the objective itself begins. If it is lost before
        that, the objective begins now.
        """
        hook = self._hook
        if done < hook.begin and done - best >= self._patience:
            self._end = hook.end_start(done)
        return done == self._end or done - max(best, hook.begin) >= self._patience

    def say(self, done: int, best: int) -> None:
        """Print how many rounds the model keeps of each stage; warn if it keeps only the start."""
        *starts, main = self._hook.stages
        self._hook.warn_of_start_alone(done, best)
        if self._verbose:
            first = min(best, max(0, main.begin))
            of_start = f"{first} of {starts[0].title}, then " if starts else ""
            of_main = f"{best - first} of {main.title}"
            print(f"The model keeps {best} of {done} rounds: {of_start}{of_main}.")
