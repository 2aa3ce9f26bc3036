"""Every error: what was given, as code that is run, and the argument that the message names."""

import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from scipy import sparse
from sklearn.linear_model import Ridge

import gbrank
from exports import exported
from gbrank import GBRanker, LinearRanker, make_cubic
from gbrank.schedules import constant, join, linear

# Arguments, and the code that goes wrong; X, y and qid are good.
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
    "Clicks": [
        ("model", "clicks_to_labels(log, model='ubm')"),
        ("log", "clicks_to_labels(log.drop(columns='query'))"),
        ("log['click']", "clicks_to_labels(log.assign(click=0))"),
        ("attention", "clicks_to_labels(log, model='coec', attention={1: 1})"),
        ("attention[2]", "clicks_to_labels(log, attention={1: 1})"),
        ("source", "read_impressions('log.txt')"),
        ("source", "read_impressions(log)"),
        ("source['query']", "read_impressions(log.assign(session=1, query=None))"),
        ("bot_rate", "read_impressions(log, bot_rate=0)"),
        ("columns", "read_impressions(log, columns={'sid': 'session'})"),
        ("source", "read_impressions(3)"),
        ("source", "path.write_text(''); read_impressions(path.rename(f'{path}.csv'))"),
        ("source['timestamp']",
         "read_impressions(log.assign(session=1, client=1, timestamp=17e11), bot_rate=1)"),
        ("queries['query_response_hit_ids']",
         "read_ubi(asked.assign(query_response_hit_ids='a b'),"
         " pd.DataFrame(columns=['action_name', 'query_id', 'event_attributes']))"),
        ("log", "clicks_to_labels([1])"),
        ("attention", "clicks_to_labels(log, attention=[1, 1])"),
        ("clicks", "compare_scores({'a': y}, y, qid, clicks=y)"),
        ("weights", "position_report([1], [1], [1], [0])"),
        ("position", "position_report([1], {}, [1])"),
        ("documents", "position_report([], [], [])"),
        ("attention",
         "compare_scores({'a': y}, y, qid, clicks=LoggedClicks(1 + y // 2, range(len(y)), qid))"),
        ("clicks",
         "compare_scores({'a': y}, y, qid, clicks=LoggedClicks(y, y, qid), metric='map')"),
        ("scores", "compare_scores({'a': y}, y, qid, clicks=Interleaved(qid))"),
        ("query",
         "choose_by_query({'a': y, 'b': y}, y, qid, clicks=LoggedClicks(0 * y + 1, y, y, {1: 1}))"),
        ("events", "read_ubi(asked, pd.DataFrame({'action_name': ['click']}))"),
        ("position['device']",
         "GBRanker().fit(X, y, qid=qid, position={'position': y + 1, 'device': y})"),
    ],
    "Tuning": [
        ("ranker", "tune(X, y, qid=qid, ranker=LinearRanker())"),
        ("constraints", "tune(X, y, qid=qid, ranker=GBRanker(constraints=['ap >= 0.5']))"),
        ("baseline", "tune(X, y, qid=qid, ranker=GBRanker(baseline=0))"),
        ("keep", "tune(X, y, qid=qid, keep=['booster'])"),
        ("minutes", "tune(X, y, qid=qid, minutes=0)"),
        ("folds", "tune(X, y, qid=qid, folds=[(np.arange(50), np.arange(50, 75), [75])])"),
    ],
    "Several goals": [
        ("labels", "GBRanker('ranknet[m]').fit(X, y, qid=qid)"),
        ("label", "GBRanker('ranknet[m]').fit(X, y, qid=qid, labels={'n': y})"),
        ("labels", "GBRanker().fit(X, y, qid=qid, labels='m')"),
        ("labels", "GBRanker().fit(X, y, qid=qid, labels=['m'])"),
        ("labels", "GBRanker().fit(pd.DataFrame(X), y, qid=qid, labels=['m'])"),
        ("labels", "GBRanker().fit(pd.DataFrame({'m': ['a'] * 100}), y, qid=qid, labels=['m'])"),
        ("labels", "GBRanker().fit(pd.DataFrame({'m': y}), y, qid=qid, labels=['m', 'm'])"),
        ("labels", "GBRanker().fit(X, y, qid=qid, labels={'m': -2 - y})"),
        ("labels", "GBRanker().fit(X, y, qid=qid, labels={'m': -1 + 0 * y})"),
        ("label", "GBRanker().fit(X, y, qid=qid, labels={'': y})"),
        ("labels", "GBRanker().fit(X, y, qid=qid, eval_labels=[{'m': y}])"),
        ("eval_labels",
         "GBRanker().fit(pd.DataFrame({'m': y}), y, qid=qid, labels=['m'], eval_labels=[{}])"),
        ("labels", "RankNet().bind(y, Q, labels=[y])"),
        ("labels", "GBRanker().fit(pd.DataFrame({'m': y}), y, qid=qid, labels=['m'])"),
        ("validation_fraction",
         "GBRanker(validation_fraction=0.3, random_state=0)"
         ".fit(X, y, qid=qid, labels={'m': np.where(qid == 4, y, np.nan)})"),
        ("validation_fraction",
         "GBRanker(validation_fraction=0.3, random_state=0)"
         ".fit(X, y, qid=qid, sample_weight=qid == 4)"),
        ("'m'", "RankNet().bind(y, Q, labels={'m': y * np.nan})"),
        ("sample_weight",
         "GBRanker().fit(X, y, qid=qid, sample_weight=qid == 1, query_weight=np.eye(10)[2])"),
        ("X", "GBRanker().fit(frame, y, qid=qid).predict({'size': [1], 'colour': []})"),
        ("measure", "get_measure('ndcg[m]')(y, y)"),
        ("measure", "LambdaRank(NDCG(label='m'))"),
        ("objective", "OnLabel('ranknet', 'm')"),
        ("objective", "get_objective('(ranknet+listnet)[m]')"),
        ("constraints", "GBRanker(constraints=5).fit(X, y, qid=qid)"),
        ("constraints", "GBRanker(constraints=[0.5]).fit(X, y, qid=qid)"),
        ("constraints",
         "GBRanker(constraints=['ap >= 0.5']).fit(X, y, qid=qid, time_limit=1)"),
        ("constraint", "get_constraint('ndcg@10[m] <= 0.5')"),
        *(
            ("at most 1", f"GBRanker(constraints='{text}').fit(X, y, qid=qid, labels={{'m': y}})")
            for text in ("ndcg >= 1.01", "ap[m] >= 2", "p@3 >= 1.1")
        ),
        ("level", "get_constraint('ndcg@10[m] >= 1.5 of best')"),
        ("constraints", "GBRanker(constraints=['ap >= 0.5', 'ap >= 0.6']).fit(X, y, qid=qid)"),
        ("constraints",
         "GBRanker('lightgbm:lambdarank', constraints=['ap >= 0.5']).fit(X, y, qid=qid)"),
        ("constraints",
         "get_constraint(Constraint(custom_measure(min), 0.5)).objective(RankNet())"),
        ("ranker", "pareto(GBRanker(constraints=['ap >= 0.5']), X, y, qid=qid, measure='ap')"),
        ("ranker", "pareto(LinearRanker(), X, y, qid=qid, measure='ap')"),
        ("ranker", "pareto(GBRanker('lightgbm:lambdarank'), X, y, qid=qid, measure='ap')"),
        ("levels", "pareto(GBRanker(), X, y, qid=qid, measure='ap', levels=[0.9, 0.9])"),
        ("eval_labels",
         "GBRanker('ranknet', eval_metric='ap[m]').fit(X, y, qid=qid, labels={'m': y}, "
         "eval_set=[(X, y)], eval_qid=[qid])"),
        ("weights", "pareto(GBRanker(), X, y, qid=qid, measure='ap', levels=[0.9], weights=[1])"),
        ("validation_fraction",
         "pareto(GBRanker(), X, y, qid=qid, measure='ap', validation_fraction=1)"),
        ("ranker", "plots.importance(LinearRanker().fit(X, y, qid=qid))"),
        ("ax", "plots.importance(trained, ax=3)"),
        *(
            ("must be one of gbrank here", f"{code.format(repr(name))}")
            for name in ("lightgbm:lambdarank", "xgboost:rank:ndcg", "catboost:YetiRank")
            for code in ("LinearRanker({}).fit(X, y, qid=qid)", "get_objective({})",
                         "get_objective('ranknet+' + {})")
        ),
        ("catboost:YetiRank", "GBRanker('catboost:YetiRank').fit(X, y, qid=qid)"),
        ("(scores, labels)", "GBRanker(eval_metric=lambda a: 1.0).fit(X, y, qid=qid)"),
        ("(scores, labels, 0)", "custom_measure(lambda s, y: 1.0, columns=[0])"),
        ("gain", "NDCG(gain=lambda: 1.0)"),
        ("discount", "NDCG(discount=lambda y, k: 1.0)"),
        ("(round)", "GBRanker().fit(X, y, qid=qid, callbacks=[lambda: None])"),
        ("sigma", "GBRanker('approx:ndcg', sigma=lambda round: 1.0).fit(X, y, qid=qid)"),
        *(
            (f"{name} must be an array, got a sparse csr_matrix",
             f"GBRanker().fit(X, **{{'y': y, 'qid': qid}} "
             f"| {{'{name}': sparse.csr_matrix(qid[:, None])}})")
            for name in ("y", "qid", "sample_weight", "query_weight", "init_score", "position")
        ),
        ("group", "GBRanker().fit(X, y, group=sparse.csr_matrix(qid[:, None]))"),
        ("ranker", "plots.constraints(GBRanker('ranknet', n_estimators=1).fit(X, y, qid=qid))"),
    ],
    "Labels, scores and weights": [
        ("y", "NDCG()([[1, 0], [0, 1]], [0, 1])"),
        ("y", "NDCG()(['good', 'bad'], [0, 1])"),
        ("y", "NDCG()([1, None, 'bad'], [0, 1, 2])"),
        ("y", "NDCG()([[1], [0, 1]], [0, 1])"),
        ("y", "NDCG()([1, np.nan], [0, 1])"),
        ("y", "NDCG()([1, -1], [0, 1])"),
        ("y", "GBRanker().fit(X, y[1:], qid=qid)"),
        ("scores", "NDCG()([1, 0], [0, 1, 2])"),
        ("scores", "RankNet().bind([1, 0], Queries.from_sizes([2])).gradients([0, np.inf])"),
        ("sigma", "RankNet().bind([1, 0], Queries.from_sizes([2])).gradients([0, 1], sigma=0)"),
        ("gain", "NDCG()([2000, 0], [0, 1])"),
        ("gain", "NDCG().bind([1023.9, 1023.9], Queries.from_sizes([2]))"),
        ("gain", "NDCG(gain=lambda y: 1e308 * y).bind([1, 1, 1], Queries.from_sizes([3]))"),
        ("threshold", "NDCG()([0, 0], [0, 1])"),
        ("sample_weight", "GBRanker().fit(X, y, qid=qid, sample_weight=[1, 2])"),
        ("query_weight", "GBRanker().fit(X, y, qid=qid, sample_weight=np.ones(10))"),
        ("sample_weight", "GBRanker().fit(X, y, qid=qid, sample_weight=-y)"),
        ("sample_weight", "GBRanker().fit(X, y, qid=qid, sample_weight=y + np.inf)"),
        ("query_weight", "GBRanker().fit(X, y, qid=qid, query_weight=y)"),
        ("query_weight", "GBRanker().fit(X, y, qid=qid, query_weight=np.zeros(10))"),
        ("init_score", "GBRanker().fit(X, y, qid=qid, init_score=[0])"),
        ("init_score", "GBRanker().fit(X, y, qid=qid, init_score=y * 1e99)"),
        ("init_score", "GBRanker().fit(X, y, qid=qid, init_score=-1e31 - y)"),
        ("init_score", "GBRanker(booster='xgboost').fit(X, y, qid=qid, init_score=y + 1.7e9)"),
        ("eval_init_score",
         "GBRanker().fit(X, y, qid=qid, init_score=y, eval_set=[(X, y)], eval_qid=[qid])"),
        ("y", "NDCG()([10**400, 1], [0, 1])"),
        ("sample_weight", "NDCG()([1, 0], [0, 1], sample_weight=[0, 0])"),
        ("position", "position_report([1, 1], [1, 0], [1, 0])"),
        ("y", "NDCG()(np.ma.masked_equal([1, 0], 0), [0, 1])"),
        ("labels", "GBRanker(n_jobs=1).fit(X, 0 * y, qid=qid)"),
        ("position", "GBRanker().fit(X, y, qid=qid, position=0 * y)"),
        ("position", "GBRanker('lightgbm:lambdarank').fit(X, y, qid=qid, position=1 + 0 * y)"),
    ],
    "Data frames in parts": [
        ("frame", "split_frame(X)"),
        ("frame", "split_frame(duckdb.sql('select 1 as label, 1 as qid'))"),
        ("frame", "split_frame(pd.DataFrame({'label': y, 'qid': qid}))"),
        ("drop", "split_frame(frame, drop='size')"),
        ("label", "split_frame(frame, qid='size')"),
        ("label", "split_frame(frame.assign(qid=qid), label='colour')"),
        ("label", "split_frame(frame.assign(label=-1), qid='size')"),
        ("label", "split_frame(frame.assign(label=-1), qid='size', unjudged='drop')"),
        ("as label and as drop", "split_frame(frame, label='size', qid='colour', drop=['size'])"),
        ("qid", "split_frame(frame.assign(label=y, qid=None))"),
    ],
    "Queries": [
        ("y", "GBRanker().fit(X, None, qid=qid)"),
        ("X", "GBRanker().fit(X[:1], y[:1], qid=qid[:1])"),
        ("qid", "GBRanker().fit(X, y, qid=qid, group=[100])"),
        ("qid", "GBRanker().fit(X, y, qid=qid[1:])"),
        ("qid", "GBRanker().fit(X, y, qid=[qid])"),
        ("qid", "Queries.from_qid([])"),
        ("qid", "Queries.from_qid(['a', None])"),
        ("group", "GBRanker().fit(X, y, group=[50, 40])"),
        ("group", "Queries.from_sizes(3)"),
        ("group", "Queries.from_sizes([1.5, 2])"),
        ("group", "Queries.from_sizes([3, 0])"),
        ("group", "GBRanker().fit(X, y, group=[2**62] * 4 + [100])"),
        ("qid", "GBRanker().fit(X, y, qid=np.ma.masked_equal(qid, 3))"),
        ("qid", "Queries.from_qid([object(), object()])"),
        ("qid", "Queries.from_qid([{'query': 1}, {'query': 2}])"),
        ("qid", "GBRanker().fit(X, y)"),
        ("qid", "trained.score(X, y)"),
        ("qid", "next(QueryKFold(3).split(X))"),
        ("qid", "next(QueryKFold(30).split(X, y, qid))"),
        ("qid", "query_train_test_split(X[:5], qid=qid[:5])"),
    ],
    "Features": [
        ("X", "on_frame.predict({'size': 1, 'colour': ['red']})"),
        ("X", "on_frame.predict([{'size': 1.0, 'colour': 'red'}, {'size': 2.0}])"),
        ("X", "on_frame.predict({'size': ['big'], 'colour': ['red']})"),
        ("X", "on_frame.predict(np.array([['red']], object))"),
        ("X", "GBRanker().fit(X[0], y, qid=qid)"),
        ("X", "GBRanker().fit(lgb.Dataset(X, y), y, qid=qid)"),
        ("X", "trained.predict(xgb.DMatrix(X))"),
        ("X", "trained.predict(damaged())"),
        ("X", "trained.predict(pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)))"),
        ("X", "GBRanker().fit(X[:0], y[:0], qid=qid[:0])"),
        ("X", "GBRanker().fit(pd.DataFrame({'': y}), y, qid=qid)"),
        ("X", "GBRanker().fit(X + np.inf, y, qid=qid)"),
        ("X", "GBRanker().fit(X + 1j, y, qid=qid)"),
        ("X", "GBRanker().fit(np.ma.masked_less(X, 0), y, qid=qid)"),
        ("X", "GBRanker(booster='xgboost').fit(X * 1e39, y, qid=qid)"),
        ("X", "GBRanker(n_jobs=1).fit(0 * X, y, qid=qid)"),
        ("init", "GBRanker(init=Ridge().fit(X, y), n_estimators=1).fit(X, y, qid=qid).explain(X)"),
        ("init", "GBRanker(init=LinearRanker()).fit(X, y, qid=qid, position=1 + 0 * y)"),
        ("X", "GBRanker().fit([['red'] * 3] * 100, y, qid=qid)"),
        ("X", "GBRanker().fit(np.full((100, 3), 'red', object), y, qid=qid)"),
        ("X", "GBRanker().fit(pd.DataFrame({'colour': ['red'] * 100}), y, qid=qid)"),
        ("X", "GBRanker().fit(pd.DataFrame({'when': pd.Categorical([(1, 2)] * 100)}), y, qid=qid)"),
        ("categorical_feature", "GBRanker().fit(X, y, qid=qid, categorical_feature='colour')"),
        ("categorical_feature", "GBRanker().fit(X, y, qid=qid, categorical_feature=['colour'])"),
        ("categorical_feature", "GBRanker().fit(X, y, qid=qid, categorical_feature=[3])"),
        ("categorical_feature", "GBRanker().fit(X, y, qid=qid, categorical_feature=1)"),
        ("categorical", "GBRanker().fit(-abs(X), y, qid=qid, categorical_feature=[0])"),
        ("X", "GBRanker().fit(frame.set_axis(['size'] * frame.shape[1], axis=1), y, qid=qid)"),
        ("X", "LinearRanker().fit(X * 1e200, y, qid=qid)"),
        ("X", "SLAMPerceptron(learning_rate=1e300, max_iter=9).fit(X * 1e99, y, qid=qid)"),
        ("X", "trained.predict(X[:, :2])"),
        ("X", "on_frame.predict(frame[['colour']])"),
        ("X", "on_frame.predict(frame.assign(size='large'))"),
        ("colour", "on_frame.predict(frame.assign(colour=3))"),
        ("X", "GBRanker().fit(frame.set_axis([1, '1'], axis=1), y, qid=qid)"),
        ("X", "on_frame.predict(X[:, :2])"),
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
    "Files": [
        ("columns", "path.write_text('1 0 d'); read_qrels(path)"),
        ("label", "path.write_text('1 0 d good'); read_qrels(path)"),
        ("document", "path.write_text('1 0 d 1\\n1 0 d 2'); read_qrels(path)"),
        ("lines", "path.write_text(''); read_qrels(path)"),
        ("UTF-8", "path.write_bytes(b'1 0 \\xff 1'); read_qrels(path)"),
        ("judgmentRatings", "path.write_text('{\"a\": 1}'); read_qrels(path)"),
        ("judgements", "path.write_text('{\"judgmentRatings\": []}'); read_qrels(path)"),
        ("finite label",
         "path.write_text('{\"requests\": [{\"id\": 1, \"ratings\": [{\"_id\": 1, '"
         " '\"rating\": NaN}]}]}'); read_qrels(path)"),
        ("NUL", "path.write_bytes(b'1 0 d\\0 1'); read_qrels(path)"),
        ("y", "write_qrels(path, [0.5], [1], ['d'])"),
        ("documents", "write_run(path, [1, 2], [1, 1], ['d', 'd'])"),
        ("X", "write_letor(path, X + 1j, y, qid)"),
        ("X", "write_letor(path, np.full((100, 3), 2**60), y, qid)"),
    ],
    "Parameters of GBRanker": [
        ("lambda_l1 in booster_params",
         "GBRanker(booster_params={'lambda_l1': np.inf}).fit(X, y, qid=qid)"),
        ("monotone_constraints in booster_params",
         "GBRanker(booster_params={'monotone_constraints': [1] * X.shape[1]})"
         ".fit(abs(X).round(), y, qid=qid, categorical_feature=[0])"),
        ("booster", "GBRanker(booster='catboost').fit(X, y, qid=qid)"),
        ("n_estimators", "GBRanker(n_estimators=0).fit(X, y, qid=qid)"),
        ("n_estimators", "GBRanker(n_estimators=10.0).fit(X, y, qid=qid)"),
        ("learning_rate", "GBRanker(learning_rate=0).fit(X, y, qid=qid)"),
        ("num_leaves", "GBRanker(num_leaves=1).fit(X, y, qid=qid)"),
        ("max_depth", "GBRanker(max_depth=-1).fit(X, y, qid=qid)"),
        ("subsample", "GBRanker(subsample=1.5).fit(X, y, qid=qid)"),
        ("extra_trees", "GBRanker(booster='xgboost', extra_trees=True).fit(X, y, qid=qid)"),
        ("subsample_by", "GBRanker(subsample_by='row').fit(X, y, qid=qid)"),
        ("n_jobs", "GBRanker(n_jobs=0).fit(X, y, qid=qid)"),
        ("random_state", "GBRanker(random_state='seven').fit(X, y, qid=qid)"),
        ("eval_metric", "GBRanker(eval_metric=[]).fit(X, y, qid=qid)"),
        ("eval_metric", "GBRanker(eval_metric=[min, min]).fit(X, y, qid=qid)"),
        ("measures", "lightgbm_feval(min, min)"),
        ("monotone_constraints",
         "GBRanker(booster_params={'monotone_constraints': {'a': 1}}).fit(frame, y, qid=qid)"),
        ("monotone_constraints",
         "GBRanker(booster_params={'monotone_constraints': [2, 0, 0]}).fit(X, y, qid=qid)"),
        ("monotone_constraints",
         "GBRanker(booster_params={'monotone_constraints': [1, 0]}).fit(X, y, qid=qid)"),
        ("interaction_constraints",
         "GBRanker(booster_params={'interaction_constraints': [0, 1]}).fit(X, y, qid=qid)"),
        ("interaction_constraints",
         "GBRanker(booster_params={'interaction_constraints': [['a']]}).fit(X, y, qid=qid)"),
        ("early_stopping_rounds", "GBRanker(early_stopping_rounds=5).fit(X, y, qid=qid)"),
        ("early_stopping_rounds", "GBRanker(early_stopping_rounds='best').fit(X, y, qid=qid)"),
        ("baseline", "GBRanker(baseline=0).fit(X, y, qid=qid)"),
        ("baseline", "GBRanker(baseline=3, validation_fraction=0.3).fit(X[:, :3], y, qid=qid)"),
        ("baseline", "GBRanker(baseline='colour', validation_fraction=0.3).fit(frame, y, qid=qid)"),
        ("validation_fraction", "GBRanker(validation_fraction=1).fit(X, y, qid=qid)"),
        ("validation_fraction", "GBRanker(validation_fraction=0.99).fit(X, y, qid=qid)"),
        ("init", "GBRanker(init='random').fit(X, y, qid=qid)"),
        ("init", "GBRanker(init=Ridge()).fit(X, y, qid=qid)"),
        ("LinearRanker", "GBRanker(init=SLAMPerceptron()).fit(X, y, qid=qid)"),
        ("init", "GBRanker(init='regression').fit(X, y, qid=qid, init_score=y)"),
        ("initial scores", "GBRanker('smooth:ndcg', init='zero').fit(X, y, qid=qid)"),
        ("booster_params", "GBRanker(booster_params=['max_bin']).fit(X, y, qid=qid)"),
        ("booster_params", "GBRanker(booster_params={1: 2}).fit(X, y, qid=qid)"),
        ("verbose", "GBRanker(verbose=['yes']).fit(X, y, qid=qid)"),
        ("booster_params", "GBRanker(booster_params={'eta': 0.1}).fit(X, y, qid=qid)"),
        ("max_bin", "GBRanker(booster_params={'max_bins': 9, 'max_bin': 9}).fit(X, y, qid=qid)"),
        ("max_binn", "GBRanker(booster_params={'max_binn': 9}).fit(X, y, qid=qid)"),
        ("label_gain", "GBRanker(booster_params={'label_gain': [0, 1]}).fit(X, y, qid=qid)"),
        ("weight", "GBRanker(booster_params={'weight': 'w'}).fit(X, y, qid=qid)"),
        ("drop_rate", "GBRanker(booster_params={'drop_rate': 0.5}).fit(X, y, qid=qid)"),
        ("forcedsplits_filename",
         "GBRanker(booster_params={'forcedsplits_filename': 'no.json'}).fit(X, y, qid=qid)"),
        ("booster_params", "GBRanker(booster_params={'boosting': 'rf'}).fit(X, y, qid=qid)"),
        ("bin_construct_sample_cnt",
         "GBRanker(booster_params={'bin_construct_sample_cnt': 0}).fit(X, y, qid=qid)"),
        ("booster_params",
         "GBRanker(booster='xgboost', booster_params={'booster': 'gblinear'}).fit(X, y, qid=qid)"),
        ("early_stopping_rounds",
         "GBRanker(booster_params={'boosting': 'dart'}, early_stopping_rounds=5,\n"
         "         validation_fraction=0.2).fit(X, y, qid=qid)"),
        ("booster", "GBRanker('xgboost:rank:ndcg').fit(X, y, qid=qid)"),
        ("subsample_by",
         "GBRanker('lightgbm:lambdarank', subsample=0.5, subsample_by='query').fit(X, y, qid=qid)"),
        ("sample_weight",
         "GBRanker('xgboost:rank:ndcg', booster='xgboost').fit(X, y, qid=qid, sample_weight=y)"),
        ("output", "trained.predict(X, output='rank')"),
        ("output", "trained.explain(X, output='table')"),
        ("time_limit", "GBRanker().fit(X, y, qid=qid, time_limit=0)"),
        ("checkpoint", "GBRanker().fit(X, y, qid=qid, time_limit=9, checkpoint=folder)"),
        ("first and second", "trained.explain_pair(X, 0, 50, qid=qid)"),
        ("query", "trained.explain_query(X, qid=qid, query='shoes')"),
    ],
    "Features relative to the query": [
        ("context", "GBRanker(context='percentile').fit(X, y, qid=qid)"),
        ("context", "GBRanker(context=['rank', 'rank']).fit(X, y, qid=qid)"),
        ("context", "GBRanker(context={'size': [0]}).fit(X, y, qid=qid)"),
        ("context", "GBRanker(context={'rank': 'a'}).fit(X, y, qid=qid)"),
        ("context", "GBRanker(context={'rank': [99]}).fit(X, y, qid=qid)"),
        ("X", "GBRanker(context='rank').fit(pd.DataFrame({'a': y, 'rank(a)': y}), y, qid=qid)"),
        ("context", "GBRanker(context='rank').fit(pd.DataFrame({'a': pd.Categorical(y)}), y, "
         "qid=qid)"),
        ("context", "GBRanker(context=3).fit(X, y, qid=qid)"),
        ("context", "GBRanker(context={'rank': ['a']}).fit(pd.DataFrame({'a': pd.Categorical(y), "
         "'b': y}), y, qid=qid)"),
        ("init", "GBRanker(n_estimators=1, init=GBRanker(n_estimators=1, context='rank'))"
         ".fit(X, y, qid=qid).explain(X, qid=qid)"),
        ("context", "GBRanker(n_estimators=1, context='rank').fit(X, y, qid=qid).predict(X)"),
        ("X", "QueryContext('rank').fit(frame)"),
        ("X", "GBRanker(context='size').fit(in_batches, y, qid=np.arange(100) % 2)"),
    ],
    "Names of other libraries": [
        ("colsample_bytree", "GBRanker(colsample_bytree=0.5)"),
        ("colsample_bytree", "GBRanker().set_params(colsample_bytree=0.5)"),
        ("eval_at", "GBRanker(eval_at=5)"),
        ("eval_names", "GBRanker().fit(X, y, qid=qid, eval_names=['valid'])"),
        ("colsampel", "GBRanker(colsampel=0.5)"),
    ],
    "Validation data": [
        ("eval_metric", "GBRanker(eval_metric='ndgc').fit(X, y, qid=qid)"),
        ("eval_set", "GBRanker().fit(X, y, qid=qid, eval_set=(X, y), eval_qid=[qid])"),
        ("eval_set", "GBRanker().fit(X, y, qid=qid, eval_set=[(X, y)])"),
        ("eval_set", "GBRanker().fit(X, y, qid=qid, eval_set=[(X,)], eval_qid=[qid])"),
        ("eval_qid", "GBRanker().fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=3)"),
        ("eval_qid", "GBRanker().fit(X, y, qid=qid, eval_qid=[qid])"),
        ("eval_qid", "GBRanker().fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid, qid])"),
        ("eval_set", "GBRanker().fit(X, y, qid=qid, eval_set=[(X, y[1:])], eval_qid=[qid])"),
    ],
    "Measures": [
        ("gain", "NDCG(gain=[])"),
        ("measure", "get_measure('ndgc')"),
        ("measure", "get_measure(10)"),
        ("NDCG()", "GBRanker(eval_metric=NDCG).fit(X, y, qid=qid)"),
        ("measure", "get_measure('ndcg(depth=10)')"),
        ("ndcg@3(k=5)", "get_measure('ndcg@3(k=5)')"),
        ("k", "get_measure('ndcg(k=1,k=2)')"),
        ("gain", "NDCG(gain='exp2')([1023, 1023], [0, 1])"),
        ("ndcg", "get_measure(\"ndcg(gain='linear')(k=2)\")"),
        ("ndcg:map", "get_measure('ndcg:map')"),
        ("k", "get_measure('ndcg(k=' + '1' * 500 + ')')"),
        ("gain", "get_measure('ndcg(linear)')"),
        ("gain", "get_measure('ndcg(gain=print(1))')"),
        ("k", "NDCG(k=0)"),
        ("ties", "NDCG(ties='random')"),
        ("threshold", "AP(threshold=0)"),
        ("gain", "NDCG(gain='exp')"),
        ("gain", "NDCG(gain=2)"),
        ("gain", "NDCG(gain=lambda y: y[:1])([1, 0], [0, 1])"),
        ("gain", "NDCG(gain=(0, 1, 3))([4, 0], [0, 1])"),
        ("discount", "NDCG(discount='log')"),
        ("discount", "NDCG(discount=2)"),
        ("discount", "NDCG(discount=lambda r: r)([1, 0], [0, 1])"),
        ("discount", "NDCG(discount=lambda r: -r)([1, 0], [0, 1])"),
        ("p", "geometric_discount(1)"),
        ("max_grade", "ERR()([9, 0], [0, 1])"),
        ("name", "register_measure(type('Mine', (NDCG,), {'name': 'ndcg'}))"),
    ],
    "Objectives": [
        ("objective", "get_objective('lamdarank')"),
        ("objective", "get_objective(10)"),
        ("LambdaRank()", "GBRanker(LambdaRank).fit(X, y, qid=qid)"),
        ("objective", "get_objective('lambda(sigma=2):ndcg')"),
        ("objective", "get_objective('ranknet:ndcg')"),
        ("options", "get_measure('ndcg(**3)')"),
        ("measure", "get_objective('approx:bpref')"),
        ("discount",
         "ApproxRank(NDCG(discount=lambda r: 1 / r)).bind([1, 0], Queries.from_sizes([2]))"),
        ("measure", "get_objective('slam:err')"),
        ("tight", "get_objective('slam(tight=True):ndcg')"),
        ("measure", "get_objective('smooth:bpref')"),
        ("measure", "get_objective('soft:ap')"),
        ("measure", "get_objective('tie:kendall')"),
        ("truncation", "get_objective('lambda(truncation=3):bpref')"),
        ("objectives", "Mixture([RankNet(), RankNet() + ListNet()])"),
        ("objectives", "Mixture(['ranknet', RankNet()])"),
        ("objectives", "Mixture([RankNet(), ListNet()], weights=[1])"),
        ("weights", "Mixture([RankNet(), ListNet()], [linear(0, 1)] * 2).bind(y, Q, rounds=2)"),
        ("weight", "Mixture([RankNet(), ListNet()], [1, lambda *_: -1]).bind(y, Q, rounds=2)"),
        ("objective", "get_objective('ranknet:ndcg')"),
        ("weight", "Mixture([RankNet(), ListNet()], weights=[1, 0])"),
        ("weight", "Mixture([RankNet(), ListNet()], [1, linear(0, 1, unit='spread')])"),
        ("draws", "NoisyLambdaRank(draws=0)"),
        ("normalize", "LambdaRank(normalize='query')"),
        ("function", "custom_objective(3, name='mine')"),
        ("curvature",
         "GBRanker(custom_objective(lambda s, y, width: (0.0, s - y, 1e308 + 0 * s)))"
         ".fit(X, y, qid=qid)"),
        ("function", "custom_measure(3)"),
        ("name", "custom_measure(max, name='best[price]')"),
        ("columns", "custom_measure(max, columns='price')"),
        ("columns", "custom_measure(max, columns=[-1])"),
        ("X", "custom_measure(max, columns=['price'])(y, y, qid=qid)"),
        ("X", "custom_measure(max, columns=['price'])(y, y, qid=qid, X=X)"),
        ("X", "custom_measure(max, columns=[0])(y, y, qid=qid, X=X[:3])"),
        (
            "column",
            "custom_measure(max, columns=['prize'])(y, y, qid=qid, X=pd.DataFrame({'price': y}))",
        ),
        ("columns", "custom_measure(max, columns=[99])(y, y, qid=qid, X=X)"),
        ("columns", "custom_measure(max, columns=['colour'])(y, y, qid=qid, X=frame)"),
        ("<lambda>", "custom_measure(lambda scores, labels: 'good')([1, 0], [0, 1])"),
        ("measure", "LambdaRank(custom_measure(max))"),
        ("measure", "ApproxRank(custom_measure(max))"),
        ("measure", "SmoothRank(custom_measure(max))"),
        ("loss", "GBRanker(lambda scores, labels, sigma: 0.0).fit(X, y, qid=qid)"),
        ("gradient",
         "GBRanker(lambda scores, labels, sigma: (0.0, [1.0], scores)).fit(X, y, qid=qid)"),
        ("curvature",
         "GBRanker(lambda scores, labels, sigma: (0.0, labels, 0 * labels)).fit(X, y, qid=qid)"),
        ("curvature",
         "GBRanker(lambda scores, labels, sigma: (0.0, labels, -labels)).fit(X, y, qid=qid)"),
    ],
    "Schedules": [
        ("schedule", "GBRanker(sigma='geometrical(1, 0.1)').fit(X, y, qid=qid)"),
        ("sigma", "GBRanker(sigma='wide').fit(X, y, qid=qid)"),
        ("sigma", "GBRanker(sigma=-1).fit(X, y, qid=qid)"),
        ("sigma", "GBRanker('lambdarank', sigma=1e50).fit(X, y, qid=qid)"),
        ("sigma", "GBRanker('lightgbm:lambdarank', sigma=2).fit(X, y, qid=qid)"),
        ("start", "geometric(0, 1)"),
        ("boundaries", "join([constant(1), constant(2)], [])"),
        ("boundaries", "join([constant(1), constant(2), constant(3)], [5, 5])"),
        ("unit", "join([constant(1), constant(2, unit='spread')], [5])"),
        ("rounds", "lightgbm_fobj('lambdarank', geometric(1, 0.1))"),
        ("rounds", "lightgbm_fobj('approx:ndcg')"),
        ("curvature", "xgboost_obj(curvature='mean')"),
        ("curvature", "GBRanker('lightgbm:lambdarank', curvature='unit').fit(X, y, qid=qid)"),
    ],
    "Hooks": [
        ("group", "lgb.train({'objective': lightgbm_fobj(), 'verbose': -1}, lgb.Dataset(X, y), 1)"),
        ("bagging_by_query",
         "lgb.train({'objective': lightgbm_fobj(), 'bagging_by_query': True, 'verbose': -1},\n"
         "          lgb.Dataset(X, y, group=[10] * 10), 1)"),
        ("qid", "xgb.train({}, xgb.DMatrix(X, y), 1, obj=xgboost_obj())"),
        ("round", "xgboost_obj(sigma=geometric(1, 0.1), rounds=5)(y, xgb.DMatrix(X, y, qid=qid))"),
    ],
    "Files of data": [
        ("UTF-8", "read_run(written('1 Q0 d 1 2 n'.encode('utf-16')))"),
        ("line 1", "read_letor(written('good qid:1 1:0.5'))"),
        ("line 1", "read_letor(written('1 1:0.5'))"),
        ("line 1", "read_letor(written('1 qid:1 0:0.5'))"),
        ("line 1", "read_letor(written('1 qid:1 2:0.5 1:0.5'))"),
        ("line 1", "read_letor(written('1 qid:1 1:half'))"),
        ("line 1", "read_letor(written('1 qid:1 1:1e999'))"),
        ("line 1", r"read_letor(written('1 qid:1 1:1 \0'))"),
        ("line 1", "read_letor(written('# nothing'))"),
        ("line 1", "read_letor(written('1 qid:1 1000000000:1'))"),
        ("n_features", "read_letor(written('1 qid:1 1:1'), n_features=10**9)"),
        ("line 1", "read_letor(written(b'1 qid:\\xff 1:1'))"),
        ("gzip", "read_letor(written(b'\\x1f\\x8b'))"),
        ("X", "write_letor(path, X[0], y, qid)"),
        ("X", "write_letor(path, X / 0, y, qid)"),
        ("qid", "write_letor(path, X, y, qid[1:])"),
        ("qid", "write_letor(path, X, y, qid / 2)"),
        ("qid", "write_letor(path, X, y, ['the first'] * 100)"),
        ("comments", "write_letor(path, X, y, qid, comments=['alone'])"),
        ("comments", r"write_letor(path, X, y, qid, comments=['a\nb'] * 100)"),
        ("comments", "write_letor(path, X, y, qid, comments=[1] * 100)"),
        ("distribution", "make_cubic(10, distribution=[0.5, 0.6])"),
        ("S1.txt", "read_folds(path.parent)"),
    ],
    "Features in batches": [
        ("read", "FeatureBatches([X], X.shape)"),
        ("shape", "FeatureBatches(lambda: [X], (0, 3))"),
        ("X", "GBRanker().fit(FeatureBatches(lambda: [X[:, 1:]], X.shape), y, qid=qid)"),
        ("X", "GBRanker().fit(FeatureBatches(lambda: [X[1:]], X.shape), y, qid=qid)"),
        ("X", "GBRanker().fit(FeatureBatches(lambda: [X + np.inf], X.shape), y, qid=qid)"),
        ("X", "LinearRanker().fit(in_batches, y, qid=qid)"),
        ("X", "GBRanker('lightgbm:lambdarank').fit(in_batches, y, qid=qid[::-1] % 3)"),
        ("booster_params", "GBRanker(booster='xgboost', "
         "booster_params={'tree_method': 'approx'}).fit(in_batches, y, qid=qid)"),
        ("booster_params", "GBRanker(booster='xgboost', "
         "booster_params={'device': 'cuda'}).fit(in_batches, y, qid=qid)"),
        (".parquet", "scan_parquet(parquet())"),
        ("label", "scan_parquet(parquet({'label': y, 'qid': qid, 'a': y}), label='grade')"),
        ("columns", "scan_parquet(parquet({'label': y, 'qid': qid, 'a': y}, {'qid': qid}))"),
        ("row", "scan_parquet(parquet({'label': y[:0], 'qid': qid[:0], 'a': y[:0]}))"),
        ("Parquet", "scan_parquet(parquet(b'PAR1 cut short'))"),
    ],
    "Saved models": [
        ("no model", "load_ranker(folder)"),
        ("damaged", "load_ranker(saved('gbrank.json', lambda text: text[:90]))"),
        ("damaged", "load_ranker(saved('gbrank.json', lambda text: '[]'))"),
        ("damaged", "load_ranker(saved('gbrank.json', lambda text: text.replace('0.1', '0.2')))"),
        ("format", "load_ranker(saved('gbrank.json', lambda text: text.replace('2', '3', 1)))"),
        ("model-", "load_ranker(saved('model-*', lambda text: text[:100]))"),
        ("model-", "load_ranker(saved('model-*', lambda text: text.replace('5', '6')))"),
        ("GBRanker", "LinearRanker.load(saved('model-*', lambda text: text))"),
        ("init",
         "GBRanker(n_estimators=1, init=Ridge().fit(X, y)).fit(X, y, qid=qid).save(folder)"),
        ("not fitted", "GBRanker().predict(X)"),
    ],
    "Checkpoints": [
        ("num_iteration", "on_frame.predict(frame, num_iteration=0)"),
        ("num_iteration", "on_frame.predict(frame, output='probability', num_iteration=1)"),
        ("callbacks", "GBRanker().fit(X, y, qid=qid, callbacks=print)"),
        ("callbacks", "GBRanker().fit(X, y, qid=qid, callbacks=[lgb.log_evaluation(5)])"),
        ("callbacks", "GBRanker(n_jobs=1).fit(X, y, qid=qid, callbacks=[lambda round: 1])"),
        ("checkpoint", "GBRanker(random_state=0).fit(X, y, qid=qid, checkpoint=1)"),
        ("random_state", "GBRanker().fit(X, y, qid=qid, checkpoint=folder)"),
        ("checkpoint", "GBRanker(random_state=0).fit(X, y, qid=qid, checkpoint='')"),
        ("path", "trained.save('')"),
        ("checkpoint_rounds",
         "GBRanker(random_state=0).fit(X, y, qid=qid, checkpoint=folder, checkpoint_rounds=0)"),
        ("checkpoint",
         "GBRanker(random_state=0, booster_params={'boosting': 'dart'}).fit(\n"
         "X, y, qid=qid, checkpoint=folder)"),
        ("n_estimators",
         "GBRanker(n_estimators=3, random_state=0).fit(X, y, qid=qid, checkpoint=begun())"),
        ("checkpoint",
         "GBRanker(n_estimators=2, random_state=0).fit(\n"
         "X, y, qid=qid, checkpoint=begun(lambda content: content[:-1]))"),
        ("checkpoint",
         "GBRanker(n_estimators=2, random_state=0).fit(\n"
         "X, y, qid=qid, checkpoint=begun(lambda content: signed(b'{}')))"),
        ("checkpoint",
         "GBRanker(n_estimators=2, random_state=0).fit(\n"
         "X, y, qid=qid, checkpoint=begun(lambda content: signed(b'{\"format\": 2}')))"),
    ],
    "Linear rankers": [
        ("y", "LinearRanker().fit(X, None, qid=qid)"),
        ("y", "SLAMPerceptron().fit(X, None, qid=qid)"),
        ("X", "LinearRanker().fit(np.where(X > 0, np.nan, X), y, qid=qid)"),
        ("X", "LinearRanker().fit(frame, y, qid=qid)"),
        ("solver", "LinearRanker('lambdarank', solver='cg').fit(X, y, qid=qid)"),
        ("solver", "LinearRanker(solver='newton').fit(X, y, qid=qid)"),
        ("sample_weight", "LinearRanker(solver='cg').fit(X, y, qid=qid, sample_weight=1 + y)"),
        ("early_stopping_rounds", "LinearRanker(early_stopping_rounds=2).fit(X, y, qid=qid)"),
        ("threshold", "LinearRanker().fit(X, 0 * y, qid=qid)"),
        ("init", "LinearRanker(init='zero').fit(X, y, qid=qid)"),
        ("center", "LinearRanker(center='regression').fit(X, y, qid=qid)"),
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
        ("ranker", "ranker_from_name(3)"),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What was given, and what came of it."""

    argument: str
    code: str
    error: Exception | None
    text: str


def names(folder: Path) -> dict[str, Any]:
    """Return what the code of the cases may use."""
    X, y, qid = make_cubic(10, n_documents=10, n_features=3, random_state=0)
    small: dict[str, Any] = {
        "n_estimators": 2, "min_child_samples": 3, "monotone": "free",
        "random_state": 0, "n_jobs": 1,
    }  # fmt: skip
    trained = GBRanker(**small).fit(X, y, qid=qid)
    frame = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(["red", "blue"] * 50)})
    made = iter(range(1000))

    def new(name: str) -> Path:
        path = folder / str(next(made)) / name
        path.parent.mkdir()
        return path

    def written(content: str | bytes) -> Path:
        path = new("train.txt")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def parquet(*files: dict[str, Any] | bytes) -> Path:
        path = new("folder")
        path.mkdir()
        for number, content in enumerate(files):
            file = path / f"{number}.parquet"
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                pd.DataFrame(content).to_parquet(file)
        return path

    def saved(name: str, change: Any) -> Path:
        path = new("model")
        trained.save(path)
        (file,) = path.glob(name)
        file.write_text(change(file.read_text()))
        return path

    def begun(change: Any = None) -> Path:
        path = new("checkpoint")
        GBRanker(**{**small, "min_child_samples": 20}).fit(X, y, qid=qid, checkpoint=path)
        if change is not None:
            file = path / "checkpoint.gbrank"
            file.write_bytes(change(file.read_bytes()))
        return path

    def signed(content: bytes) -> bytes:
        return hashlib.sha256(content).hexdigest().encode() + b"\n" + content

    def damaged() -> Any:
        matrix = sparse.csr_matrix(X)
        matrix.indices[0] = -1
        return matrix

    on_frame = GBRanker(**small).fit(frame, y, qid=qid)
    own = {name: value for name, value in locals().items() if name not in ("made", "new", "small")}
    own |= {"constant": constant, "join": join, "linear": linear}
    own |= {"Q": gbrank.Queries.from_qid(qid), "sparse": sparse}
    own |= {"np": np, "pd": pd, "duckdb": duckdb, "lgb": lgb, "xgb": xgb, "Ridge": Ridge}
    own |= {"path": new("train.txt")}
    shown = {"query": [1, 1], "document": [1, 2], "position": [1, 2], "click": [1, 0]}
    asked = {"query_id": ["a"], "user_query": ["b"], "query_response_hit_ids": [["c"]]}
    own |= {"log": pd.DataFrame(shown), "asked": pd.DataFrame(asked)}
    own |= {"in_batches": gbrank.datasets.FeatureBatches(lambda: [X[:50], X[50:]], X.shape)}
    return {**exported(), **own, "folder": new("folder"), "LinearRanker": LinearRanker}


def told(error: Exception, folder: Path) -> str:
    """Return a message without what is of this machine, or of another library."""
    text = re.sub(re.escape(str(folder)) + r"/\d+/?", "", str(error))
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"model-[0-9a-f]{16}", "model-...", text)
    text = re.sub(r"(bytes, expected )\d+", r"\1...", text)  # versions of the boosters differ
    text = re.sub(r"(Known: |takes \[)(?s:.{20}).*", r"\1...", text)
    return re.sub(r"\s+", " ", text)


def cases() -> dict[str, list[Case]]:
    """Run all of them."""
    found: dict[str, list[Case]] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = names(folder)
        for section, items in SECTIONS.items():
            found[section] = []
            for argument, code in items:
                error = None
                with np.errstate(all="ignore"):
                    try:
                        exec(code, dict(known))
                    except Exception as caught:
                        error = caught
                text = "" if error is None else told(error, folder)
                found[section].append(Case(argument, code, error, text))
    return found
