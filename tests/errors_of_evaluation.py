"""Errors of comparisons, splits, judges and tuning."""

SECTIONS: dict[str, list[tuple[str, str]]] = {
    "A judge beside people": [
        ("scores", "compare_scores({}, y, qid)"),
        ("labels", "compare_scores({'a': y}, y, qid, judged_by=y, labels={'judge': y})"),
        ("y", "compare_scores({'a': y}, np.where(y > 1, y, np.nan), qid, judged_by=y)"),
        ("y", "compare_scores({'a': y}, y * np.nan, qid, judged_by=y)"),
        ("metric",
         "compare_scores({'a': y}, y, qid, judged_by=y, labels={'m': y}, metric='ndcg[m]')"),
        ("judged_by",
         "GBRanker(n_estimators=2).fit(X, y, qid=qid).score(X, y, qid, judged_by=y,"
         " sample_weight=y + 1)"),
    ],
    "Tuning": [
        ("ranker", "tune(X, y, qid=qid, ranker=LinearRanker())"),
        ("folds", "tune(X, y, qid=qid, folds=[(np.arange(50), np.arange(50, 75), [75])])"),
    ],
    "Splits and scorers": [
        ("qid", "query_train_test_split(X, qid=[1] * 100)"),
        ("arrays", "query_train_test_split(qid=qid)"),
        ("qid", "evaluation.make_scorer('ndcg')(trained, X, y)"),
        ("query_weight", "NDCG()(y, y, qid=qid, query_weight={0: 1})"),
        ("query_weight", "NDCG()(y, y, qid=qid, query_weight=pd.Series({0: 1}))"),
        ("query_weight", "NDCG()([1, 0], [0, 1], qid=[1, 0], query_weight=pd.Series([2.0, 3.0]))"),
        ("random_state", "make_cubic(5, random_state='now')"),
        ("random_state", "make_cubic(5, random_state=-1)"),
    ],
    "Comparisons": [
        ("rankers", "cross_validate_rankers({}, X, y, qid)"),
        ("rankers", "cross_validate_rankers({'mine': 3}, X, y, qid)"),
        ("folds", "cross_validate_rankers({'a': GBRanker()}, X, y, qid, folds=11)"),
        ("measures", "cross_validate_rankers({'a': GBRanker()}, X, y, qid, measures=[])"),
        ("seeds", "cross_validate_rankers({'a': GBRanker()}, X, y, qid, seeds=[])"),
        ("seeds", "cross_validate_rankers({'a': GBRanker()}, X, y, qid, seeds=[1, 1])"),
        ("number", "Dataset('cubic', X, y, qid).fold(6)"),
        ("datasets", "compare_rankers({'a': GBRanker()}, [])"),
        ("datasets", "compare_rankers({'a': GBRanker()}, ['mq2008'])"),
    ],
}  # fmt: skip
