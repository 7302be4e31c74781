"""What is to be predicted, and which rows are for training, validation and test."""

import shlex
from dataclasses import dataclass

import numpy as np
import polars as pl
import torch
from torch import Tensor

from graphcon._words import counted
from graphcon.data import splits
from graphcon.data._dataset import has_target
from graphcon.data._kinds import PARTS, Kind
from graphcon.data._options import TableOptions
from graphcon.data._split import Split
from graphcon.data.tables.cells import as_known, as_numbers, check_finite, odd_among_numbers
from graphcon.data.tables.files import Table
from graphcon.data.tables.hints import hint_at_numbers, looks_empty
from graphcon.errors import InputError

_CLASSES_LIMIT = 50
#: How many values that float32 can tell apart a standard deviation must span: degrees of latitude in a town have 8,000.
_FEWEST_STEPS = 1000
_PART_NAMES = {
    "train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2, "testing": 2
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """What was learned about the target.

    Attributes:
        names: Its columns.
        kind: What it is.
        classes: The classes as text, in the order of their indices; of all labelled rows.
    """

    names: tuple[str, ...]
    kind: Kind
    classes: tuple[str, ...] = ()

    @property
    def num_outputs(self) -> int:
        """Classes, labels or numbers."""
        return len(self.classes) if self.kind == "classification" else len(self.names)


def find_target(table: Table, names: tuple[str, ...], options: TableOptions) -> Target:
    """The kind and the classes of a target."""
    if not names:
        raise InputError(
            f"{table.path}: no target is named. Say --target COLUMN; it has: {', '.join(table.frame.columns)}."
        )
    for name in names:
        table.require_plain(name, "A target")
        if names.count(name) > 1:
            raise InputError(f"--target {name}: is named {names.count(name)} times. Name it once.")
    kind = options.kind or _guess_kind(table, names)
    name, *others = names
    if kind == "classification":
        if others:
            raise InputError(
                f"--target {' '.join(names)}: classification takes one column. Name one, or say --kind "
                "multilabel for several columns of zeros and ones."
            )
        values = table.frame[name]
        if _is_numeric(values):
            _numbers(table, name)
        classes = values.drop_nulls().unique().sort()
        if options.kind and _is_numeric(classes):  # read as they are written, and in the order of numbers all the same
            order = pl.DataFrame({"class": classes, "number": as_numbers(classes)})
            classes = order.sort("number", "class")["class"]
        if len(classes) < 2:
            raise InputError(
                f"{table.path}, column '{name}': holds {len(classes)} class"
                f"{f' ({classes[0]})' if len(classes) else 'es'}. To tell classes apart there must be two or "
                "more: name another --target."
            )
        return Target(names, kind, tuple(classes.cast(pl.String).to_list()))
    for name in names:
        numbers = _numbers(table, name, alone=not others)
        if kind == "multilabel":
            odd = (~numbers.is_in([0.0, 1.0])).fill_null(False)
            if odd.any():
                table.refuse(name, odd, "A label must be 0 or 1 (or true or false): correct it.")
        else:
            _check_digits(table, name, numbers.drop_nulls().to_numpy())
    return Target(names, kind)


def _check_digits(table: Table, name: str, values: np.ndarray) -> None:
    """Refuses values that lie so close together, and so far from 0, that float32 makes many of them equal."""
    if len(values) == 0 or (values.astype(np.float32) == values).all() or np.ptp(values) == 0:
        return
    step = float(np.spacing(np.abs(values).max().astype(np.float32)))
    spread = float(values.std())
    if spread < _FEWEST_STEPS * step:
        raise InputError(
            f"{table.path}, column '{name}': its values lie around {values.mean():.4g} and differ by some "
            f"{spread:.3g} only, of which single precision, with steps of {step:.3g} there, keeps too few digits. "
            "Subtract a constant from the column, or write it in another unit."
        )


def find_doubts(table: Table, target: Target, options: TableOptions) -> list[str]:
    """Notes on what a target that was guessed may be instead."""
    where, values = f"{table.path}, column '{target.names[0]}'", table.frame[target.names[0]].drop_nulls()
    if options.kind or len(target.names) > 1:
        return []
    if target.kind == "classification":
        hint = hint_at_numbers(values) if values.dtype == pl.String else ""
        return [f"{where}: its texts are read as classes.{hint}"] if hint else []
    # Programs that know no empty integer write classes with a point where one is missing: 1.0.
    if values.dtype.is_float() and values.n_unique() <= _CLASSES_LIMIT and (values == values.round()).all():
        return [f"{where}: its whole numbers are read as values. If they are classes, say --kind classification."]
    return []


def find_look_alikes(table: Table, target: Target) -> list[str]:
    """Notes on classes that differ in spaces or in upper and lower case only, which often are one, and on those that
    look like an empty cell.
    """
    alike: dict[str, list[str]] = {}
    for name in target.classes:
        alike.setdefault(" ".join(name.casefold().split()), []).append(name)
    where = f"{table.path}, column '{target.names[0]}'"
    empty = [
        f"{where}: the class {name!r} looks like an empty cell. If it is one, say --null-values {shlex.quote(name)}."
        for name in target.classes
        if looks_empty(name)
    ]
    return empty + [
        f"{where}: the classes {' and '.join(map(repr, names))} differ in spaces or capitals only, and count as "
        f"{len(names)} classes. If they are one, write them the same way."
        for names in alike.values()
        if len(names) > 1
    ]


def find_absent(table: Table, target: Target, y: Tensor) -> list[str]:
    """A note on classes that training never sees.

    Args:
        table: The table that has the target.
        target: The target.
        y: That of the training part.

    Raises:
        InputError: It holds one class only.
    """
    if target.kind != "classification":
        return []
    present = y.unique()
    if present.numel() < 2:
        raise InputError(
            f"{table.path}, column '{target.names[0]}': the training part holds one class "
            f"({target.classes[int(present[0])]}). It must hold two or more: change the split."
        )
    absent = sorted(set(range(len(target.classes))) - set(present.tolist()))
    names = ", ".join(target.classes[label] for label in absent[:5])
    return [f"{table.path}: {len(absent)} class(es) are not in the training part: {names}."] if absent else []


def find_empty(table: Table, split: Split, options: TableOptions) -> list[str]:
    """A note on parts of a random split that have a share and got nothing."""
    shares = {"validation": (options.val, split.val), "test": (1 - options.train - options.val, split.test)}
    empty = [part for part, (share, index) in shares.items() if share > 1e-9 and index.numel() == 0]
    if not empty:
        return []
    count = sum(index.numel() for _, index in split.parts())
    return [
        f"{table.path}: no {split.unit} is left for {' and '.join(empty)}: {count:,} with a target are too few for "
        f"--train {options.train:g} and --val {options.val:g}, or too few of every class. Add some, or say in a column "
        "which are for what: --split-column."
    ]


def encode_target(table: Table, target: Target) -> Tensor:
    """Class indices [rows] with -1 for an empty cell, or numbers [rows] or [rows, columns] with NaN for
    it.
    """
    for name in target.names:
        table.require_plain(name, "A target")
    if target.kind == "classification":
        name = target.names[0]
        places = pl.DataFrame({"class": target.classes, "place": np.arange(len(target.classes))})
        values = as_known(table.frame[name], target.classes)
        found = pl.DataFrame({"class": values}).join(places, on="class", how="left", maintain_order="left")["place"]
        unknown = values.is_not_null() & found.is_null()
        if unknown.any():
            table.refuse(name, unknown, f"It is none of the classes: {', '.join(target.classes[:20])}.")
        return torch.from_numpy(found.fill_null(-1).to_numpy().astype(np.int64))
    alone = len(target.names) == 1
    columns = [_numbers(table, name, alone=alone).fill_null(float("nan")).to_numpy() for name in target.names]
    numbers = torch.from_numpy(np.stack(columns, axis=1).astype(np.float32))
    return numbers[:, 0] if target.kind == "regression" and len(columns) == 1 else numbers


def find_split(
    table: Table, columns: tuple[str, ...], target: Target, y: Tensor, options: TableOptions, unit: str
) -> tuple[Split, list[str]]:
    """The split that the table tells, or a random one of the rows that have a target.

    Returns:
        The split and a note on rows without a target.
    """
    labelled = has_target(y)
    notes = []
    if not labelled.all():
        notes.append(
            f"{table.path}: {int((~labelled).sum()):,} of {len(labelled):,} rows have no target; they belong "
            "to the graph and to no part of the split."
        )
    if columns:
        split = _told_split(table, columns, unit)
        for part, index in split.parts():
            bare = index[~labelled[index]]
            if bare.numel():
                empty = np.zeros(len(labelled), dtype=bool)
                empty[bare.numpy()] = True
                name = next((n for n in target.names if table.frame[n].null_count()), target.names[0])
                table.refuse(
                    name,
                    pl.Series(empty),
                    f"The row is in the {part} part and must have a target: fill it in, or leave its cell of "
                    f"'{columns[0]}' empty.",
                )
    else:
        candidates = labelled.nonzero().flatten()
        if candidates.numel() < 3:
            raise InputError(
                f"{table.path}: {counted(candidates.numel(), 'row')} with a target: too few for training, validation "
                "and test."
            )
        classes = y if target.kind == "classification" else None
        split = splits.random_fractions(
            len(labelled), options.seed, train=options.train, val=options.val, labels=classes,
            candidates=candidates, unit=unit,
        )  # fmt: skip
        notes += find_empty(table, split, options)
    return split, notes + find_absent(table, target, y[split.train])


def _told_split(table: Table, columns: tuple[str, ...], unit: str) -> Split:
    for name in columns:
        table.require_plain(name, "A part of the split")
    if len(columns) == 3:
        marks = [_marks(table, name) for name in columns]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            both = marks[i] & marks[j]
            if both.any():
                table.refuse(
                    columns[j],
                    both,
                    f"The row is also marked in '{columns[i]}'. The parts of a split must not overlap: take one away.",
                )
        index = [torch.from_numpy(np.flatnonzero(mark.to_numpy())) for mark in marks]
        name = " ".join(columns)
    else:
        name = columns[0]
        values = table.frame[name].cast(pl.String).str.strip_chars().str.to_lowercase()
        odd = values.is_not_null() & ~values.is_in(list(_PART_NAMES))
        if odd.any():
            table.refuse(name, odd, "Must be train, val or test, or empty for a row in no part.")
        numbers = values.replace_strict(_PART_NAMES, default=None, return_dtype=pl.Int64).fill_null(-1).to_numpy()
        index = [torch.from_numpy(np.flatnonzero(numbers == part)) for part in range(3)]
    for part, rows in zip(PARTS, index, strict=True):
        if rows.numel() == 0 and part == "train":
            raise InputError(f"{table.path}, column '{columns[0]}': no row is marked train. Mark some.")
    return Split(f"column {name}", *index, size=table.frame.height, unit="graph" if unit == "graph" else "node")


def _marks(table: Table, name: str) -> pl.Series:
    numbers = as_numbers(table.frame[name])
    odd = ~numbers.is_in([0.0, 1.0]).fill_null(False)
    if odd.any():
        table.refuse(name, odd, "A mark of a split must be 0 or 1 (or true or false).")
    return numbers == 1.0


def _guess_kind(table: Table, names: tuple[str, ...]) -> Kind:
    values = [table.frame[name].drop_nulls() for name in names]
    if len(values) > 1:
        truths = all(
            v.dtype == pl.Boolean or (v.dtype.is_numeric() and v.cast(pl.Float64).is_in([0.0, 1.0]).all())
            for v in values
        )
        return "multilabel" if truths else "regression"
    dtype = values[0].dtype
    if dtype == pl.String:
        odd = odd_among_numbers(table.frame[names[0]])
        if odd is not None and odd.any():
            table.refuse(
                names[0],
                odd,
                "Most cells of this column are numbers, and this is none. Correct it; if it means an empty "
                "cell, say --null-values; if these are classes, say --kind classification."
                + hint_at_numbers(table.frame[names[0]].filter(odd)),
            )
    if dtype.is_float() or dtype.is_decimal():
        return "regression"
    return "regression" if dtype.is_integer() and values[0].n_unique() > _CLASSES_LIMIT else "classification"


def _is_numeric(values: pl.Series) -> bool:
    """Whether all cells are numbers: also where they are text, as nan in a CSV file makes them."""
    if values.dtype != pl.String:
        return values.dtype.is_float()
    odd = odd_among_numbers(values)
    return odd is not None and not odd.any()


def _numbers(table: Table, name: str, *, alone: bool = True) -> pl.Series:
    """The cells as numbers; NaN and infinity are refused as text is, empty cells stay empty."""
    values = table.frame[name]
    numbers = as_numbers(values)
    odd = values.is_not_null() & numbers.is_null()
    if odd.any():
        cure = "Must be a number: correct it; if it means an empty cell, say --null-values; "
        classes = "if these are classes, say --kind classification."
        labels = "several targets are numbers, or labels: write these as 1 and 0, or true and false."
        table.refuse(name, odd, cure + (classes if alone else labels))
    check_finite(table, name, numbers, "A target", "correct it, or leave the cell empty.")
    return numbers
