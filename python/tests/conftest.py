"""What the tests share: where the examples are."""
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def examples():
    return ROOT / "examples"


@pytest.fixture
def shared():
    folder = pathlib.Path(os.environ.get("GAMBREL_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder


@pytest.fixture(scope="session")
def binary():
    """The command line of this installation."""
    import gambrel._binary

    return gambrel._binary.find_binary()
