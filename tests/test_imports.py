"""What may be loaded when, and by whom: start-up is light, the native kernels have one door."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

import naively
from naively import EventModel, NaiveBayes
from naively.tabular import Drawn, Tabular
from naively.wings.databases.query import Spelling

SOURCE = Path(naively.__file__).parent
HEAVY = {
    "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "nanoarrow", "duckdb",
    "click", "rich", "matplotlib", "safetensors", "pydantic",
    "starlette", "uvicorn", "anyio",
}  # fmt: skip


def every_module_loaded(*arguments):
    """Return the full names of what a new interpreter imports."""
    command = [sys.executable, "-X", "importtime", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return set(re.findall(r"^import time:.*\| +([\w.]+)$", run.stderr, re.MULTILINE))


def modules_loaded(*arguments):
    """Return what a new interpreter imports, by the first part of the names."""
    return {name.split(".")[0] for name in every_module_loaded(*arguments)}


def test_import_loads_numpy_at_most():
    assert modules_loaded("-c", "import naively") & HEAVY == set()


OPTIONS = """
nb = NaiveBayes(weights=None)
nb.set_params(class_prior="uniform").get_params()
repr(nb)
"""
FITS = """
import numpy as np
x, y = np.array([[1.0, 2.0], [2.0, 3.0], [7.0, 8.0], [8.0, 7.0]] * 5), ["a", "a", "b", "b"] * 5
texts = ["good day to you", "bad day for me", "good good", "bad luck"] * 5
table = {"size": x[:, 0].tolist(), "colour": ["red", "red", "blue", None] * 5}
for X in (x, x.tolist(), texts, table):
    nb = NaiveBayes().fit(X, y)
    nb.predict(X)
    nb.score(X, y)
nb.partial_fit(table, y).merge(nb).forget(table, y)
GaussianNB().fit(x, np.arange(20) % 2).predict(x)
"""


@pytest.mark.parametrize("what", [OPTIONS, FITS], ids=["options", "fits"])
def test_what_is_in_memory_and_plain_is_learned_by_numpy_alone(what):
    loaded = modules_loaded("-c", f"from naively import GaussianNB, NaiveBayes\n{what}")
    assert loaded & HEAVY == set()


def test_a_text_is_predicted_by_a_loaded_model_without_what_learned_it(tmp_path):
    path = tmp_path / "model"
    texts = ["good day to you", "bad day for me"] * 5
    NaiveBayes().fit(texts, ["a", "b"] * 5).save(path)
    code = "import sys; from naively import load; load(sys.argv[1]).predict(['good luck'])"
    assert modules_loaded("-c", code, str(path)) & HEAVY <= {"safetensors"}


TABLE = "a,b,y\n" + "1,red,x\n2,red,x\n,blue,z\n8,blue,z\n" * 9
LATER = {"email", "importlib.metadata", "logging", "asyncio"}  # of the standard library
LEARNING = {  # rooms of the house
    "naively.fitting", "naively.assess", "naively.inspect", "naively.estimators",
    "naively.wings.report", "naively.wings.databases", "naively.wings.onnx",
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small file of plain CSV, and the file of a model of it."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "data.csv").write_text(TABLE)
    run = [sys.executable, "-m", "naively", "train", "data.csv", "-t", "y", "-o", "model"]
    subprocess.run(run, capture_output=True, check=True, cwd=folder)
    return folder / "data.csv", folder / "model"


@pytest.mark.parametrize("verb", [[], ["train"], ["export"], ["curve"]], ids=str)
def test_help_imports_click_alone(verb):
    loaded = every_module_loaded("-m", "naively", *verb, "--help")
    others = {"numpy", "naively.data", "naively.events"}
    assert loaded & (HEAVY | LATER | LEARNING | others) == {"click"}


def test_the_version_is_said_without_reading_the_metadata_of_packages():
    assert every_module_loaded("-m", "naively", "--version") & (HEAVY | LATER) == {"click"}


def test_a_verb_is_imported_alone(trained):
    loaded = every_module_loaded("-m", "naively", "show", trained[1], "-f", "csv")
    verbs = {"learn", "export", "serve", "demo", "curve"}
    assert loaded & {f"naively.wings.cli.{verb}" for verb in verbs} == set()


def test_a_small_table_is_predicted_without_what_learned_it_and_what_reads_large_files(trained):
    loaded = every_module_loaded("-m", "naively", "predict", trained[1], trained[0])
    assert loaded & (HEAVY | LATER | LEARNING) == {"click", "safetensors"}


def test_a_small_table_is_learned_without_what_explains_it(trained, tmp_path):
    data, new = trained[0], tmp_path / "new"
    loaded = every_module_loaded("-m", "naively", "train", data, "-t", "y", "-o", new)
    assert loaded & (HEAVY | LATER) == {"click", "safetensors"}
    explaining = {"naively.inspect", "naively.wings.report", "naively.wings.databases.spark"}
    assert loaded & explaining == set()


def test_csv_of_any_dialect_is_read_without_duckdb(trained, tmp_path):
    quoted = tmp_path / "quoted.csv"
    quoted.write_text(TABLE.replace("red", '"red"').replace(",", ";"))
    loaded = modules_loaded("-m", "naively", "predict", trained[1], quoted)
    assert loaded & HEAVY == {"click", "safetensors"}


def test_a_row_in_memory_is_predicted_by_numpy_and_the_reader_of_models(trained):
    # From a file to the probabilities of a row, without a file to be read and the command line.
    loaded = modules_loaded(
        "-c",
        "import sys\n"
        "from naively.file import store\n"
        "from naively.data.frames import as_rows\n"
        "store.load_all(sys.argv[1]).model.posterior(as_rows([{'a': 1.0, 'b': 'red'}]))",
        str(trained[1]),
    )
    assert loaded & HEAVY <= {"safetensors"}


def test_core_loads_no_table_library():
    code = "from naively.terms import words; from naively.counting import tally"
    loaded = modules_loaded("-c", code)
    assert loaded & (HEAVY - {"scipy"}) == set()


def test_only_one_file_names_the_native_kernels():
    # import-linter cannot say this: a compiled module has no source for it to find.
    imports = re.compile(
        r"^\s*(?:from|import)\b.*\b_native\b|import_module\(.*_native", re.MULTILINE
    )
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if imports.search(path.read_text(encoding="utf-8"))
    }
    assert users <= {"kernels/native.py"}


def test_other_libraries_are_used_by_their_public_names():
    # Their private modules change without notice, and our dependencies have no upper bounds.
    imported = []
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    for node in chain.from_iterable(ast.walk(ast.parse(text)) for text in texts):
        if isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
    private = re.compile(r"(?!naively\.|__future__)\w+(\.\w+)*\._")
    assert [name for name in imported if private.match(name)] == []


def does(kind: type) -> bool:
    """Whether a class has methods of its own, which another could change; a record has fields."""
    return any(inspect.isfunction(of) for name, of in vars(kind).items() if name[:2] != "__")


def test_class_is_abstract_or_final():
    # What a concrete class does is read in its file: no other class changes a part of it.
    names = (found.name for found in pkgutil.walk_packages([str(SOURCE)], "naively."))
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    classes = {
        defined
        for module in modules
        for defined in vars(module).values()
        if inspect.isclass(defined) and defined.__module__ == module.__name__
    }
    assert len(classes) > 80
    inherited = {base for defined in classes for base in defined.__bases__} & classes
    concrete = {base for base in inherited if not inspect.isabstract(base) and does(base)}
    unnamed = {
        base for base in concrete if issubclass(base, EventModel) and "name" not in dir(base)
    }
    # An event model without a name cannot be chosen, nor is a result a table without columns;
    # and any database that sqlglot knows has the spelling that a few refine.
    assert concrete == unnamed | {Drawn, Spelling, Tabular}


def test_dir_lists_public_names():
    assert set(naively.__all__) <= set(dir(naively))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        naively.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", naively.__all__)
def test_public_name_is_documented_with_an_example(name):
    public = getattr(naively, name)
    text = inspect.getdoc(public)
    assert text
    assert re.search(r"^Examples\n-{8}$", text, re.MULTILINE), f"{name} has no Examples section"
    assert ">>> " in text
    if inspect.isfunction(public) and inspect.signature(public).parameters:
        assert re.search(r"^Parameters\n-{10}$", text, re.MULTILINE)
