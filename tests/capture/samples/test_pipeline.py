"""Records found behind batches of data sets: in memory and in files, through the functions of the pipeline."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tf

import tensorflow as tf  # noqa: E402

from tfdbg_cli.capture.runs.delivered import DELIVERIES  # noqa: E402
from tfdbg_cli.capture.samples.pipeline import Pipeline  # noqa: E402
from tfdbg_cli.capture.samples.recipe import recipe_of  # noqa: E402
from tfdbg_cli.errors import TfdbgError  # noqa: E402
from tfdbg_cli.model.records import FoundRecords, Record, SoughtRow  # noqa: E402

X = np.random.default_rng(2).random((50, 3)).astype(np.float32)
X[7, 1] = np.nan
Y = np.arange(50) % 4
SLICES = tf.data.Dataset.from_tensor_slices


def found(dataset: Any, row: int = 2, component: int = 0, seconds: float = 30.0) -> tuple[FoundRecords, Any]:
    """What is found of a row of the second batch that the data set gives, and that row."""
    batches = iter(dataset)
    next(batches)
    parts = [part.numpy()[row] for part in tf.nest.flatten(next(batches))]
    held = {at: np.asarray(part) for at, part in enumerate(parts)}
    return Pipeline(weakref.ref(dataset)).find([SoughtRow(row, held)], component, seconds), parts


@tf.function
def signed(x: Any, y: Any) -> Any:
    return tf.cond(y > 1, lambda: x, lambda: -x), y


def shortened(x: Any, y: Any) -> Any:
    return x[: 2 + tf.cast(y % 2, tf.int32)], y


def pipelines() -> dict[str, Callable[[], Any]]:
    both = lambda: SLICES((X, Y))  # noqa: E731
    return {
        "order": lambda: both().shuffle(20).repeat().batch(8).prefetch(1),
        "cut": lambda: both().cache().skip(3).take(40).shard(2, 1).shuffle(9).batch(8),
        "map": lambda: both().shuffle(50).map(lambda x, y: (x * 3.0, y), num_parallel_calls=2).batch(8),
        "maps": lambda: both().map(lambda x, y: {"a": x, "b": y}).map(lambda e: (e["b"], e["a"])).shuffle(9).batch(8),
        "after": lambda: both().shuffle(50).batch(8).map(lambda x, y: (x + 1.0, y)),
        "exact": lambda: both().shuffle(50).batch(8, drop_remainder=True).map(lambda x, y: (x + 1.0, y)),
        "zip": lambda: tf.data.Dataset.zip((SLICES(X).map(lambda x: x - 1.0), SLICES(Y))).shuffle(50).batch(8),
        "zip of batches": lambda: tf.data.Dataset.zip(
            (SLICES(X).map(lambda x: x - 1.0).batch(8), SLICES(Y).batch(8, drop_remainder=True))
        ).prefetch(1),
        "zip mapped": lambda: tf.data.Dataset.zip((SLICES(X).batch(8), SLICES(Y).batch(8))).map(
            lambda x, y: (x * 2.0, y)
        ),
        "filter": lambda: both().filter(lambda x, y: y > 1).shuffle(9).batch(8),
        "options": lambda: both().with_options(tf.data.Options()).shuffle(50).batch(8, num_parallel_calls=2),
        "one by one": lambda: both().shuffle(50).map(lambda x, y: (x[: tf.cast(y % 1, tf.int32) + 3], y)).batch(8),
        "called": lambda: both().shuffle(50).map(signed).batch(8),
        "padded": lambda: both().shuffle(50).map(shortened).padded_batch(8).prefetch(1),
        "padded by": lambda: both().map(shortened).shuffle(50).padded_batch(
            8, padded_shapes=([5], []), padding_values=(-1.0, np.int64(0)), drop_remainder=True
        ),
    }  # fmt: skip


@pytest.mark.parametrize("kind", pipelines())
def test_of_arrays_in_memory(kind: str) -> None:
    dataset = pipelines()[kind]()
    told, parts = found(dataset)
    label = next(part for part in parts if np.ndim(part) == 0)
    (record,) = told.records.values()
    assert record.alike == 1 and record.record is not None and Y[record.record] == label
    alone = Pipeline(weakref.ref(dataset))
    again = alone.find([SoughtRow(0, {at: np.asarray(part) for at, part in enumerate(parts)})], 0, 30.0)
    assert again.records[0] == record


PAIRED = np.arange(400, dtype=np.float32).reshape(100, 4)[np.random.default_rng(5).permutation(100)]


def _rows_by_twos(x: Any) -> Any:
    return tf.reshape(tf.stack([x[:8], x[8:]], 1), [16, 4])


@pytest.mark.parametrize(
    "moved",
    [
        lambda x: x[::-1],
        lambda x: tf.gather(x, tf.argsort(x[:, 0])),
        lambda x: tf.roll(x, 3, 0),
        _rows_by_twos,
    ],
    ids=["reversed", "sorted", "rolled", "by twos"],
)
def test_functions_that_move_the_rows_of_a_batch(moved: Callable[[Any], Any]) -> None:
    dataset = SLICES(PAIRED).shuffle(100).batch(16, drop_remainder=True).map(moved)
    for batch in dataset.take(2):
        rows = {at: batch.numpy()[at] for at in (0, 5)}
        told = Pipeline(weakref.ref(dataset)).find([SoughtRow(at, {0: row}) for at, row in rows.items()], 0, 30.0)
        assert told.records == {at: Record(np.flatnonzero(PAIRED[:, 0] == row[0])[0]) for at, row in rows.items()}
    open_ended = SLICES(PAIRED).batch(16).map(lambda x: x[::-1])
    row = next(iter(open_ended)).numpy()[3]
    assert Pipeline(weakref.ref(open_ended)).find([SoughtRow(3, {0: row})], 0, 30.0).records == {3: Record(12)}


def test_functions_that_mix_the_records_of_a_batch() -> None:
    dataset = SLICES(PAIRED).batch(16, drop_remainder=True).map(lambda x: x - tf.reduce_mean(x))
    row = next(iter(dataset)).numpy()[3]
    told = Pipeline(weakref.ref(dataset)).find([SoughtRow(3, {0: row})], 0, 30.0)
    assert told.records == {}
    assert "mix records, or move them: of what row 3 is made cannot be told." in told.notes[-1]


TEXTS = ["a", "bcd", "", "efghi", "jk", "lmnopqr", "st", "u", "vwxyz", "wxyzv", "0", "12345678901"]


def _letters(text: Any) -> Any:
    return tf.strings.unicode_decode(tf.strings.join(["<", text, ">"]), "UTF-8")


@pytest.mark.parametrize(
    ("after", "moves"),
    [
        (lambda text: (_letters(text).to_tensor(), tf.strings.length(text)), False),
        (
            lambda text: (tf.cast(_letters(text), tf.float32)[:, :-1].to_tensor(), _letters(text)[:, 1:].to_tensor()),
            False,
        ),
        (lambda text: (tf.strings.unicode_split(text, "UTF-8").to_tensor()[::-1],), True),
    ],
    ids=["numbers", "two parts", "texts and moved rows"],
)
def test_functions_that_fill_up_the_records_of_a_batch(after: Callable[[Any], Any], moves: bool) -> None:
    """A blind test: texts that are tokenized behind shuffle and batch come out as wide as their neighbours."""
    dataset = SLICES(TEXTS).shuffle(12, seed=3, reshuffle_each_iteration=False).batch(4)
    looked_for, said = [], set[str]()
    for texts, batch in zip(dataset, dataset.map(after), strict=True):
        parts = [part.numpy() for part in batch]
        wanted = [text.decode() for text in (texts.numpy()[::-1] if moves else texts.numpy())]
        rows = [SoughtRow(row, {at: part[row] for at, part in enumerate(parts)}) for row in range(len(wanted))]
        told = Pipeline(weakref.ref(mapped := dataset.map(after))).find(rows, 0, 30.0)
        assert told.records == {row: Record(TEXTS.index(text)) for row, text in enumerate(wanted)}, told.notes
        looked_for += wanted
        said.update(told.notes)
        del mapped
    assert sorted(looked_for) == sorted(TEXTS)
    assert any("zeros at their end are not compared" in note for note in said)


def test_what_is_longer_than_a_filled_up_record_is_none() -> None:
    dataset = SLICES(TEXTS).batch(4).map(lambda text: _letters(text).to_tensor())
    row = np.array([ord(one) for one in "<bc"], np.int32)
    told = Pipeline(weakref.ref(dataset)).find([SoughtRow(0, {0: row})], 0, 30.0)
    assert told.records == {} and "No record is as row 0" in told.notes[-1]


def test_records_that_were_left_out_are_none(tmp_path: Path) -> None:
    data = np.arange(60, dtype=np.float32)
    data[20] = data[58] = data[40]
    sliced = SLICES(data)
    for dataset in (
        sliced.skip(30).take(25).shuffle(30).batch(5),
        sliced.skip(20).map(lambda x: x).cache().skip(10).take(25).batch(5),
        tf.data.Dataset.zip((sliced.skip(30), sliced.skip(30))).map(lambda x, y: x).batch(5).take(5),
        sliced.take(55).skip(30).batch(5),
    ):
        rows = [SoughtRow(0, {0: np.float32(40)})]
        alike = 2 if "ZipDataset" in str(type(dataset._input_dataset._input_dataset._input_dataset)) else 1
        assert Pipeline(weakref.ref(dataset)).find(rows, 0, 30.0).records == {0: Record(40, alike=alike)}
    apart = tf.data.Dataset.zip((sliced.skip(30), sliced)).map(lambda x, y: x).batch(5)
    assert "different numbers were skipped" in Pipeline(weakref.ref(apart)).find(rows, 0, 30.0).notes[0]


def test_a_head_of_a_file_and_lines_that_cannot_be_read(tmp_path: Path) -> None:
    for name in "ab":
        lines = ["x,y", *(f"{name}{at},1" if at == 5 else f"{ord(name)}.{at},{at}" for at in range(20))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))

    def parsed(line: Any) -> Any:
        return tf.stack(tf.io.decode_csv(line, [0.0, 0.0]))

    one = str(tmp_path / "a.csv")
    told = [
        Pipeline(weakref.ref(dataset)).find([SoughtRow(0, {0: np.array([97.3, 3.0], np.float32)})], 0, 30.0)
        for dataset in [
            tf.data.TextLineDataset(one).skip(1).map(parsed).ignore_errors().batch(4),
            tf.data.TextLineDataset([one, str(tmp_path / "b.csv")]).skip(1).map(parsed).ignore_errors().batch(4),
        ]
    ]
    assert [one.records for one in told] == [{0: Record(4, one)}] * 2, told


def test_what_is_in_the_last_part_of_a_batch() -> None:
    dataset = SLICES(X).batch(8, drop_remainder=True).map(lambda x: x + 1.0)
    rows = [SoughtRow(row, {0: X[48 + row] + np.float32(1)}) for row in range(2)]
    told = Pipeline(weakref.ref(dataset)).find(rows, 0, 30.0)
    assert told.records == {0: Record(48), 1: Record(49)}


def test_alike_and_keys() -> None:
    data = {"a": np.zeros(20), "b": np.arange(20) // 4}
    dataset = SLICES(data).shuffle(20).batch(4)
    told = Pipeline(weakref.ref(dataset)).find([SoughtRow(3, {0: np.array(0.0), 1: np.array(2)})], 1, 30.0)
    assert told.records == {3: Record(8, key="b", alike=4)}


@tf.autograph.experimental.do_not_convert
def _drawn(x: Any) -> Any:
    return x + tf.random.uniform(())


@tf.autograph.experimental.do_not_convert
def _printed(x: Any) -> Any:
    with tf.control_dependencies([tf.raw_ops.PrintV2(input="row")]):
        return tf.identity(x)


CALLS: list[int] = []


def _called(x: Any) -> Any:
    CALLS.append(1)
    return x


WHY_NOT: dict[str, tuple[Callable[[], Any], str]] = {
    "random": (lambda: SLICES(X).map(_drawn).batch(8), "draws random numbers (RandomUniform)"),
    "python": (lambda: SLICES(X).map(lambda x: tf.numpy_function(_called, [x], tf.float32)).batch(8), "calls Python"),
    "print": (lambda: SLICES(X).map(_printed).batch(8), "does more than compute (PrintV2)"),
    "generator": (
        lambda: tf.data.Dataset.from_generator(lambda: iter(X), output_signature=tf.TensorSpec(3)).batch(8),
        "a generator",
    ),
    "padded": (lambda: SLICES(X).padded_batch(8).map(lambda x: x + 1.0), "a map behind padded_batch"),
    "window": (lambda: SLICES(X).window(2).flat_map(lambda w: w.batch(2)).batch(4), "has window"),
    "concatenated": (lambda: SLICES(X).concatenate(SLICES(X)).batch(8), "has concatenate"),
    "flat": (lambda: SLICES(X).flat_map(lambda x: SLICES(x)).batch(4), "has flat_map"),
    "no batch": (lambda: SLICES(X.reshape(10, 5, 3)), "No data set makes batches"),
    "twice": (lambda: SLICES(X).batch(2).batch(2), "batches of batches"),
    "sparse": (lambda: SLICES(X).map(lambda x: (tf.sparse.from_dense(x), x)).batch(8), "sparse or ragged"),
}


@pytest.mark.parametrize("kind", WHY_NOT)
def test_why_it_cannot_be_told(kind: str) -> None:
    make, words = WHY_NOT[kind]
    dataset = make()
    CALLS.clear()
    told = Pipeline(weakref.ref(dataset)).find([SoughtRow(0, {0: X[0]})], 0, 30.0)
    assert not told.records and len(told.notes) == 1 and words in told.notes[0] and not CALLS


def test_texts_of_padded_batches_and_what_another_padding_tells_apart() -> None:
    texts = [[b"a"], [b"a", b"b"], [b"c", b"", b"d"], [b"a", b"pad"]]
    dataset = tf.data.Dataset.from_tensor_slices([0, 1, 2, 3]).map(lambda at: tf.ragged.constant(texts)[at])
    pipeline = dataset.padded_batch(4, padding_values="pad")
    batch = next(iter(pipeline)).numpy()
    told = Pipeline(weakref.ref(pipeline)).find([SoughtRow(n, {0: batch[n]}) for n in range(4)], 0, 30.0)
    numbers = {row: (record.record, record.alike) for row, record in told.records.items()}
    assert numbers == {0: (0, 2), 1: (1, 1), 2: (2, 1), 3: (0, 2)}, "padding may make records alike"


def test_what_is_not_there_and_what_is_not_compared() -> None:
    dataset = SLICES(X).batch(8)
    pipeline = Pipeline(weakref.ref(dataset))
    assert (
        "No record is as rows 0 and 1"
        in pipeline.find([SoughtRow(n, {0: X[0] + 1}) for n in (0, 1)], 0, 9.0).notes[1]
    )
    assert "nothing can be compared" in pipeline.find([SoughtRow(0, {3: X[0]})], 0, 9.0).notes[0]
    assert "Not looked further" in pipeline.find([SoughtRow(0, {0: X[0] + 1})], 0, 1e-9).notes[1] or len(X) < 1024
    del dataset
    gc.collect()
    assert "does not hold the data set any more" in pipeline.find([SoughtRow(0, {0: X[0]})], 0, 9.0).notes[0]


def example(at: int) -> bytes:
    """Record `at` as an Example with two features and a label."""
    parts = {
        "age": tf.train.Feature(float_list=tf.train.FloatList(value=X[at, :1])),
        "income": tf.train.Feature(float_list=tf.train.FloatList(value=X[at, 1:])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[Y[at]])),
    }
    text: bytes = tf.train.Example(features=tf.train.Features(feature=parts)).SerializeToString()
    return text


FEATURES = {
    "age": tf.io.FixedLenFeature([1], tf.float32),
    "income": tf.io.FixedLenFeature([2], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def parsed(text: Any) -> Any:
    features = tf.io.parse_single_example(text, FEATURES)
    return tf.math.log(features["income"] + 1.0), features["label"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Five files of ten records each."""
    names = [str(tmp_path / f"part-{number}") for number in range(5)]
    for number, name in enumerate(names):
        with tf.io.TFRecordWriter(name) as writer:
            for at in range(10 * number, 10 * number + 10):
                writer.write(example(at))
    return names


def readers(files: list[str]) -> dict[str, Callable[[], Any]]:
    pattern = str(Path(files[0]).parent / "part-*")
    record = tf.data.TFRecordDataset
    return {
        "one after another": lambda: record(files).map(parsed).shuffle(20).batch(8),
        "in parallel": lambda: record(files, num_parallel_reads=2).map(parsed).shuffle(20).batch(8),
        "of names": lambda: record(SLICES(files)).shuffle(20).batch(8).map(
            lambda texts: (
                tf.io.parse_example(texts, {"income": FEATURES["income"]})["income"],
                tf.io.parse_example(texts, {"label": FEATURES["label"]})["label"],
            )
        ),
        "interleaved": lambda: tf.data.Dataset.list_files(pattern).interleave(record, 2).map(parsed).batch(8),
        "inside": lambda: SLICES(files).interleave(lambda name: record(name).map(parsed), 2).batch(8),
    }  # fmt: skip


@pytest.mark.parametrize("kind", readers(["/"]))
def test_of_files_of_examples(files: list[str], kind: str) -> None:
    dataset = readers(files)[kind]()
    told, (x, y) = found(dataset)
    (record,) = told.records.values()
    assert record.record is not None and record.file in files
    number = 10 * files.index(record.file) + record.record
    held = X[number, 1:] if kind == "of names" else np.log(X[number, 1:] + 1)
    assert Y[number] == y and np.allclose(held, x, equal_nan=True)
    assert record.key == ("" if kind == "inside" else "income")
    assert np.asarray(x).shape == (2,)


def test_lines_count_from_the_first_of_their_file(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}.csv") for number in range(3)]
    for number, name in enumerate(names):
        Path(name).write_text("value\n" + "".join(f"{10 * number + at}\n" for at in range(10)))
    lines = tf.data.TextLineDataset
    for dataset in (
        SLICES(names).interleave(lambda name: lines(name).skip(1)).map(tf.strings.to_number).shuffle(9).batch(4),
        lines(names).filter(lambda line: line != "value").map(tf.strings.to_number).shuffle(9).batch(4),
    ):
        told, (value,) = found(dataset)
        assert told.records == {2: Record(1 + int(value) % 10, names[int(value) // 10])}


def test_records_of_a_fixed_length(tmp_path: Path) -> None:
    X.tofile(tmp_path / "x.bin")
    dataset = tf.data.FixedLengthRecordDataset(str(tmp_path / "x.bin"), 12)
    dataset = dataset.map(lambda text: tf.ensure_shape(tf.io.decode_raw(text, tf.float32), [3])).batch(5)
    assert found(dataset)[0].records == {2: Record(7, str(tmp_path / "x.bin"))}


def test_files_of_one_record_each(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}.png") for number in range(12)]
    for number, name in enumerate(names):
        tf.io.write_file(name, tf.io.encode_png(np.full((2, 2, 3), 9 * number, np.uint8)))
    read = lambda name: tf.io.decode_png(tf.io.read_file(name), 3)  # noqa: E731
    for dataset in (
        tf.data.Dataset.list_files(str(tmp_path / "*.png")).map(read).batch(4),
        tf.data.Dataset.zip((SLICES(names).map(read), SLICES(list(range(12))))).shuffle(12).batch(4),
    ):
        told, parts = found(dataset)
        assert told.records == {2: Record(0, names[int(parts[0].max()) // 9])}


def test_a_file_that_is_gone(files: list[str]) -> None:
    dataset = tf.data.TFRecordDataset(files).map(parsed).batch(8)
    Path(files[0]).unlink()
    told = Pipeline(weakref.ref(dataset)).find([SoughtRow(0, {0: X[0, 1:]})], 0, 30.0)
    assert "could not be run again: NotFoundError" in told.notes[0] and "function_node" not in told.notes[0]


def test_the_program_does_not_notice() -> None:
    def draws(*, asks: bool) -> list[Any]:
        tf.random.set_seed(4)
        made: list[Any] = []
        dataset = shuffled()
        for batch in dataset:
            if asks and not made:
                sought = SoughtRow(0, {0: batch[0][0].numpy()})
                assert Pipeline(weakref.ref(dataset)).find([sought], 0, 30.0).records
            made.append(batch[0].numpy().tobytes())
        return [*made, float(tf.random.uniform(())), [int(one) for one in tf.data.Dataset.range(9).shuffle(9)]]

    def shuffled() -> Any:
        return SLICES((X, Y)).shuffle(50, seed=3).map(lambda x, y: (x * 2, y)).batch(8)

    undo = DELIVERIES.count()
    try:
        dataset = shuffled()
        assert draws(asks=False) == draws(asks=True)
        batches = iter(dataset)
        (x, _), _ = next(batches), Pipeline(weakref.ref(dataset)).find([SoughtRow(0, {0: X[0]})], 0, 30.0)
        known = DELIVERIES.of(x._id)
        assert known is not None and (known.step, known.component) == (0, 0)
    finally:
        undo()


def test_windows_of_a_series_are_records_by_their_place() -> None:
    """As of keras.utils.timeseries_dataset_from_array, which zips places with the whole array, again and again."""
    series = np.arange(60, dtype=np.float32)
    series[40] = np.inf
    places = tf.data.Dataset.zip((tf.data.Dataset.range(52), tf.data.Dataset.from_tensors(np.arange(52)).repeat()))
    windows = places.map(lambda at, all_of_them: tf.range(all_of_them[at], all_of_them[at] + 8))
    whole = tf.data.Dataset.from_tensors(series).repeat()
    dataset = tf.data.Dataset.zip((whole, windows)).map(tf.gather).batch(16)
    told, (window,) = found(dataset, row=19 - 16)
    assert window[0] == 19
    assert told.records[3].record == 19
    assert "number that Dataset.range gave" in told.notes[1]


def test_records_that_are_counted_beside_an_array_are_places_in_it() -> None:
    told, parts = found(tf.data.Dataset.zip((tf.data.Dataset.range(50), SLICES(Y))).shuffle(50).batch(8))
    assert told.records[2].record == parts[0] and len(told.notes) == 1


@pytest.mark.parametrize(
    "parts",
    [
        lambda: (SLICES(X).batch(8), SLICES(Y)),
        lambda: (SLICES(X).batch(8), SLICES(Y).batch(4)),
        lambda: (SLICES(X).batch(8).map(lambda x: x + 1.0), SLICES(Y).batch(8)),
        lambda: (SLICES(X).map(lambda x: x[:2]).padded_batch(8), SLICES(Y).batch(8)),
    ],
    ids=["one alone", "other sizes", "a map behind", "padded"],
)
def test_a_zip_of_other_batches_is_named(parts: Callable[[], Any]) -> None:
    """A blind test: behind a zip of batches it was said that no data set makes batches."""
    with pytest.raises(TfdbgError, match="a zip of batches that are not all made alike"):
        recipe_of(tf.data.Dataset.zip(parts()))


def test_a_zip_of_epochs_is_gone_through_once() -> None:
    dataset = tf.data.Dataset.zip((SLICES(X).repeat(), SLICES(Y).repeat())).shuffle(50).batch(8)
    told, parts = found(dataset)
    (record,) = told.records.values()
    assert record.record is not None and Y[record.record] == parts[1]
