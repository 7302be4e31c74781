"""People's own tables: nodes and edges as CSV or Parquet, with everything that was learned about them.

What needs PyTorch is imported when it is first used: a mistake in a table is told without it, at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphcon.data.tables.read import read_tables
    from graphcon.data.tables.schema import NewData, TableSchema

_HOMES = {"NewData": "schema", "TableSchema": "schema", "read_tables": "read"}

__all__ = ["NewData", "TableSchema", "read_tables"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
