"""Reads the feed files of write-files.mjs by x12sdk, DuckDB and pandas, and writes an 834 of its own for `feed compare`.

python read_files.py FOLDER
"""
import json
import sys
from pathlib import Path

import duckdb
import pandas
from x12sdk.generate import generate_834
from x12sdk.generate._spec import CoverageSpec, EnrolleeSpec
from x12sdk.io import X12ModelReader

folder = Path(sys.argv[1])
COUNTS = [1, 2, 999, 100_000]
NAMES = ["King", "=SUM(A1)", "Łukasz", 'O"Hara, Jr', " Ruiz", "-d'Arc", "Núñez\nde la Torre", "007"]


def expected(index):
    """The last name of a person; the line of somebody who was erased has none."""
    return "" if index % 50 == 49 else NAMES[index % len(NAMES)]


def read_by_pandas(path, count):
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
    assert list(frame["LASTNAME"]) == [expected(index) for index in range(count)], path
    assert list(frame["LINE"]) == [str(index + 1) for index in range(count)], path
    assert not count > 1 or frame["ZIPCODE"][1] == "01234", path


for count in COUNTS:
    path = str(folder / f"{count}.csv")
    read_by_pandas(path, count)
    rows = duckdb.sql(
        f"select LASTNAME from read_csv('{path}', header = true, all_varchar = true, quote = '\"', escape = '\"')"
    ).fetchall()
    assert [name or "" for (name,) in rows] == [expected(index) for index in range(count)], "DuckDB"
    print(f"pandas {pandas.__version__} and DuckDB {duckdb.__version__} read {count} lines of CSV as they were written")
    imported = folder / "libreoffice" / f"{count}.csv"
    if imported.exists():
        read_by_pandas(imported, count)
        print(f"LibreOffice read {count} lines of CSV as they were written")

for count in COUNTS[:3]:
    text = (folder / f"{count}.x12").read_text("latin1")
    # x12sdk 2.2.0 refuses two codes that the guide has: INS08 AC (active) and DMG03 U (unknown).
    text = text.replace("**AC~", "**FT~").replace("*U~", "*F~")
    loops = 0
    with X12ModelReader(text) as reader:
        for model in reader.models():
            loops += len(model.loop_2000)
            covered = [cover for one in model.loop_2000 for cover in one.loop_2300]
            assert all(str(cover.hd_segment.insurance_line_code) == "DEN" for cover in covered)
    assert loops == count, (loops, count)
    print(f"x12sdk reads {count} people of our 834")

people = [EnrolleeSpec(member_id=f"C-{at}", coverages=[CoverageSpec(insurance_line="DEN")]) for at in range(40)]
theirs = generate_834(seed=7, enrollees=people)
(folder / "theirs.x12").write_text(theirs)
with X12ModelReader(theirs) as reader:
    (model,) = list(reader.models())
(folder / "theirs.json").write_text(
    json.dumps(
        [
            [
                one.ref_segment[0].reference_identification,
                str(one.loop_2300[0].dtp_segment[0].date_time_period),
                one.loop_2100a.nm1_segment.name_last_or_organization_name,
                str(one.loop_2100a.dmg_segment.date_time_period),
            ]
            for one in model.loop_2000
        ]
    )
)
