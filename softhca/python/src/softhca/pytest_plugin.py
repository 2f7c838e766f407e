"""``pytest --softhca``: the tests run on software mlx5 devices."""

import os
import shlex
import sys

import pytest

from softhca import launcher

# The launcher says so to the programs that it starts.
STARTED = "SOFTHCA_DEVICES"


def pytest_addoption(parser):
    group = parser.getgroup("softhca", "software mlx5 devices")
    group.addoption("--softhca", action="store_true", help="run the tests on software mlx5 devices")
    group.addoption(
        "--softhca-options",
        default="",
        metavar="OPTIONS",
        help="options of softhca-run, in one string: '--link ethernet --devices 2'",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Starts pytest again by the launcher: the object that shows the devices is loaded when a program starts."""
    if not config.getoption("softhca") or STARTED in os.environ:
        return
    # Output that pytest has caught by now goes where it was to go; and the new process has the original descriptors.
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        options = shlex.split(config.getoption("softhca_options"))
        program = launcher()
    except (ValueError, FileNotFoundError) as error:
        raise pytest.UsageError(f"--softhca: {error}") from error
    arguments = [str(argument) for argument in config.invocation_params.args]
    os.chdir(config.invocation_params.dir)
    os.execv(program, [program, *options, "--", sys.executable, "-m", "pytest", *arguments])


def pytest_report_header(config):
    if STARTED in os.environ:
        return f"softhca: {os.environ[STARTED]} software mlx5 device(s)"
    return None
