"""Errors of comparisons, splits, judges and tuning."""

SECTIONS: dict[str, list[tuple[str, str]]] = {
    "A judge beside people": [
        ("scores", "compare_scores({}, y, qid)"),
        ("labels", "compare_scores({'a': y}, y, qid, judge_labels=y, labels={'judge': y})"),
        ("y", "compare_scores({'a': y}, np.where(y > 1, y, np.nan), qid, judge_labels=y)"),
        ("y", "compare_scores({'a': y}, y * np.nan, qid, judge_labels=y)"),
        ("y", "compare_scores({'a': y}, np.where(qid < 2, y, np.nan), qid, judge_labels=y)"),
        ("metric",
         "compare_scores({'a': y}, y, qid, judge_labels=y, labels={'m': y}, metric='ndcg[m]')"),
        ("judge_labels",
         "GBRanker(n_estimators=2).fit(X, y, qid=qid).score(X, y, qid, judge_labels=y, "
         "sample_weight=y + 1)"),
    ],
    "Tuning": [
        ("ranker", "tune(X, y, qid=qid, ranker=LinearRanker())"),
        ("ranker", "tune(X, y, qid=qid, ranker=GBRanker(init='zero'))"),
        ("target_difference", "required_queries([0.1, 0.2], target_difference=0)"),
        ("differences", "required_queries([0.1, np.nan])"),
        ("folds", "tune(X, y, qid=qid, folds=[(np.arange(50), np.arange(50, 75), [75])])"),
        ("minutes", "tune(X, y, qid=qid, minuts=1)"),
    ],
    "Exports and reports": [
        ("ranker", "export_model(Ridge(), path, 'solr')"),
        ("solr", "export_model(trained, path, 'solar')"),
        ("opensearch:1.3", "export_model(trained, path, 'opensearch:1.3')"),
        *(
            ("feature_names", f"export_model(trained, path, 'solr', feature_names={names})")
            for names in (["a"], ["a", "b", "a"], [1, 2, 3], {"z": "y"})
        ),
        ("feature_names", "export_model(trained, path, 'onnx', feature_names=['a', 'b', 'c'])"),
        ("extractors", "export_model(trained, path, 'elasticsearch', extractors=[{}])"),
        ("extractors", "export_model(trained, path, 'solr', extractors=[{}])"),
        *(
            (name, f"report(on_frame, frame, y, qid=qid, html=path, {name}={value})")
            for name, value in (
                ("by", "'size'"), ("by", "'nation'"), ("docid", 3), ("against", 3), ("train", "X"),
            )
        ),
        ("X", "report(on_frame, None, y, qid=qid, html=path)"),
        ("names", "report(on_frame, frame, y, qid=qid, html=path, against=y, names=('a', 'a'))"),
        ("html", "report(on_frame, frame, y, qid=qid, html=folder / 'no' / 'report.html')"),
    ],
    "Splits and scorers": [
        ("qid", "evaluation.make_scorer('ndcg')(trained, X, y)"),
        ("source", "evaluation.scores_from('no/such/file', X)"),
        ("scores", "evaluation.scores_from([1.0], X)"),
        ("query_weight", "NDCG()(y, y, qid=qid, query_weight={0: 1})"),
        ("query_weight", "NDCG()(y, y, qid=qid, query_weight=pd.Series({0: 1}))"),
        ("query_weight", "NDCG()([1, 0], [0, 1], qid=[1, 0], query_weight=pd.Series([2.0, 3.0]))"),
        ("random_state", "make_cubic(5, random_state='now')"),
        ("random_state", "make_cubic(5, random_state=-1)"),
    ],
    "Comparisons": [
        ("rankers", "cross_validate_rankers({}, X, y, qid)"),
        ("rankers", "cross_validate_rankers({'mine': 3}, X, y, qid)"),
        ("position", "cross_validate_rankers({'a': xgb.XGBRanker()}, X, y, qid, position=qid + 1)"),
        ("folds", "cross_validated(folds=11)"),
        ("metric", "cross_validated(metric=[])"),
        ("number", "Dataset('cubic', X, y, qid).fold(6)"),
        ("folds[0]", "Dataset('a', X, y, qid, [8, 9])"),
        ("folds[0]", "Dataset('a', X, y, qid, [([0], [1], [2])])"),
        ("folds[0]", "Dataset('a', X, y, qid, [(range(10), range(10, 20), [])])"),
        ("folds[0]", "Dataset('a', X, y, qid, [(range(10), range(10, 20), [20.5])])"),
        ("folds[0]", "Dataset('a', X, y, qid, [(range(10), range(10, 20), [20, 20])])"),
        ("folds", "Dataset('a', X, y, qid, 2)"),
        ("folds", "Dataset('a', X, y, qid, [])"),
        ("datasets", "compare_rankers({'a': 'ranknet'}, [])"),
        ("datasets", "compare_rankers({'a': 'ranknet'}, [(X, y, qid)])"),
        ("seeds", "cross_validated(seeds=[])"),
        ("seeds", "cross_validated(seeds=[3, 3])"),
        ("datasets", "compare_rankers({'a': 'ranknet'}, [Dataset('a', X, y, qid, 3)] * 2)"),
        ("objective", "cross_validate_rankers({'a': 'nonsense'}, X, y, qid)"),
        ("undefined on every query", "cross_validate_rankers({'a': 'ranknet'}, X, y * 0, qid)"),
        ("seeds", "cross_validated(seeds=-1)"),
        ("seeds", "cross_validated(seeds='5')"),
        ("metric", "cross_validated(metric=['ap', 'map'])"),
        ("target_difference", "cross_validated(target_difference=0)"),
        ("n_jobs", "cross_validated(n_jobs=0)"),
        ("sample_weight", "Dataset('cubic', X, y, qid, 3, sample_weigth=y)"),
        ("seeds", "cross_validated(seed=3)"),
        ("judge_labels=", "compare_scores({'a': y}, y, qid, labels={'judge': y})"),
        ("judge_labels=", "cross_validate_rankers({'a': y}, X, y, qid, labels={'judge': y})"),
    ],
}  # fmt: skip
