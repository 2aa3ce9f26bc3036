"""The papers' tables and figures, computed anew and set beside what the papers say."""

from benchmarks.papers import approxrank, lambdarank, lost, slam, smoothrank, speed, tierank
from benchmarks.papers.experiment import Experiment

__all__ = ["EXPERIMENTS", "Experiment"]

EXPERIMENTS = {
    "smoothrank-tables": Experiment(
        ("ohsumed",),
        smoothrank.tables,
        smoothrank.DEVIATIONS,
        smoothrank.TABLE_PICTURES,
        minutes=24,
    ),
    "smoothrank-older-ohsumed": Experiment(
        ("ohsumed25",),
        smoothrank.older_ohsumed,
        smoothrank.OLD_DEVIATIONS,
        smoothrank.OLD_PICTURES,
        minutes=1.5,
    ),
    "smoothrank-extensions": Experiment(("ohsumed",), smoothrank.extensions, minutes=4),
    "smoothrank-figures": Experiment(
        ("ohsumed",),
        smoothrank.figures,
        smoothrank.FIGURE_DEVIATIONS,
        smoothrank.FIGURE_PICTURES,
        minutes=4,
    ),
    "approxrank-6.2": Experiment(
        ("ohsumed25",),
        approxrank.section_6_2,
        approxrank.ERROR_DEVIATIONS,
        approxrank.ERROR_PICTURES,
        minutes=0.3,
    ),
    "approxrank-6.4": Experiment(
        ("ohsumed25", "ohsumed"), approxrank.section_6_4, pictures=approxrank.PICTURES, minutes=3
    ),
    "approxrank-6.5": Experiment(
        ("ohsumed25",), approxrank.section_6_5, pictures=approxrank.AP_PICTURES, minutes=1
    ),
    "lambdarank-6.1": Experiment((), speed.speed_up, speed.DEVIATIONS, speed.PICTURES, minutes=1),
    "lambdarank-6.2": Experiment(
        (), lambdarank.lambda_functions, lambdarank.FUNCTION_DEVIATIONS, minutes=0.5
    ),
    "lambdarank-6.3.1": Experiment(
        (), lambdarank.nets, lambdarank.DEVIATIONS, lambdarank.PICTURES, minutes=4
    ),
    "lambdarank-trees": Experiment(
        (), lambdarank.boosted_trees, lambdarank.TREE_DEVIATIONS, minutes=3
    ),
    "tierank": Experiment(("mq2008",), tierank.against_others, minutes=10),
    "tierank-learner": Experiment(("mq2008",), tierank.own_learner, tierank.DEVIATIONS, minutes=18),
    "slam-perceptron": Experiment((), slam.perceptron, slam.DEVIATIONS, slam.PICTURES, minutes=0.4),
    "slam-regret": Experiment(("ohsumed",), slam.regret, slam.REGRET_DEVIATIONS, minutes=0.4),
    "slam-6.1": Experiment((), slam.gradients, slam.GRADIENT_DEVIATIONS, minutes=0.1),
    "slam-batch": Experiment(("ohsumed", "mq2008"), slam.batch, slam.BATCH_DEVIATIONS, minutes=2),
    "lost": Experiment((), lost.figures_without_data),
}
