"""People's own tables: nodes and edges as CSV or Parquet, with everything that was learned about them."""

from graphcon.data.tables.read import read_tables
from graphcon.data.tables.schema import NewData, TableSchema

__all__ = ["NewData", "TableSchema", "read_tables"]
