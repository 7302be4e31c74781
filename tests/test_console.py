"""What commands print."""

from io import StringIO

import pytest

from graphcon._console import make_console, titled_table


@pytest.mark.parametrize(("columns", "lines"), [(80, 1), (20, 2)])
def test_the_title_of_a_narrow_table_is_on_one_line_where_the_screen_has_room(columns: int, lines: int):
    out = StringIO()
    table = titled_table("best validation accuracy: 0.9190")
    table.add_column("best")
    table.add_row("0.5")
    make_console(file=out, width=columns).print(table)
    told = out.getvalue().splitlines()
    assert " ".join(line.strip() for line in told[:lines]) == "best validation accuracy: 0.9190"
    assert all(len(line) <= columns for line in told)
