"""A software mlx5 device: the launcher ``softhca-run``, and a plugin of pytest that runs tests by it."""

import os
import shutil
import sysconfig

__all__ = ["launcher"]


def launcher():
    """The path of ``softhca-run``: that of this installation, else the first one on the ``PATH``.

    Raises FileNotFoundError if there is none.
    """
    own = os.path.join(sysconfig.get_path("scripts"), "softhca-run")
    found = own if os.access(own, os.X_OK) else shutil.which("softhca-run")
    if found is None:
        raise FileNotFoundError("softhca-run is neither beside this Python nor on the PATH")
    return found
