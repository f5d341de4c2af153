# SPDX-License-Identifier: MIT
"""Builds the wheel: the package with the shared library inside, by Meson, or the library that PERFDATA_LIBRARY names. Nothing but the
standard library is needed."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = "libperfdata.so.0"


def _version():
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as project:
        return re.search(r'^version = "([^"]+)"', project.read(), re.M)[1]


def _metadata():
    return (f"Metadata-Version: 2.1\nName: perfdata\nVersion: {_version()}\n"
            "Summary: Recordings of Linux perf: records and samples as objects, as columns, and in SQL\nLicense: MIT\n"
            "Requires-Python: >=3.9\n")


def _tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _wheel():
    return f"Wheel-Version: 1.0\nGenerator: perfdata\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _build_library(folder):
    """The shared library, without what only records, tests or comes from others to be installed."""
    if os.environ.get("PERFDATA_LIBRARY"):
        return os.environ["PERFDATA_LIBRARY"]
    top = os.path.dirname(HERE)
    if not os.path.exists(os.path.join(top, "meson.build")) or not shutil.which("meson"):
        raise RuntimeError("building the library takes the source tree and Meson; or set PERFDATA_LIBRARY to libperfdata.so")
    subprocess.run(["meson", "setup", folder, top, "--buildtype=release", "-Dtests=false"], check=True)
    subprocess.run(["meson", "compile", "-C", folder, "perfdata:shared_library"], check=True)
    return os.path.join(folder, "src", "libperfdata.so")


def _files(library):
    """Names in the wheel and contents."""
    package = os.path.join(HERE, "perfdata")
    for name in sorted(os.listdir(package)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(package, name), "rb") as source:
                yield f"perfdata/{name}", source.read()
    with open(library, "rb") as source:
        yield f"perfdata/{LIBRARY}", source.read()
    info = f"perfdata-{_version()}.dist-info"
    yield f"{info}/METADATA", _metadata().encode()
    yield f"{info}/WHEEL", _wheel().encode()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"perfdata-{_version()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, info))
    for name, content in (("METADATA", _metadata()), ("WHEEL", _wheel())):
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as file:
            file.write(content)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"perfdata-{_version()}-{_tag()}.whl"
    record = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(os.path.join(wheel_directory, name), "w",
                                                                  zipfile.ZIP_DEFLATED) as wheel:
        for path, content in _files(_build_library(folder)):
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
        path = f"perfdata-{_version()}.dist-info/RECORD"
        wheel.writestr(path, "".join(record) + f"{path},,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source distribution of the package alone: it is built in the source tree")
