"""Writes the wheel and the source archive, for pip (PEP 517) and for `npm run client:python`, with the standard library
alone. The same sources give the same files."""
import base64
import gzip
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "agent_messaging"
VERSION = re.search(r'^VERSION = "(.+)"$', (PACKAGE / "_http.py").read_text(), re.M)[1]
NAME = f"agent_messaging-{VERSION}"
WHEEL = "Wheel-Version: 1.0\nGenerator: build_package\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def license_text():
    """In this folder of a source archive, or in the service's."""
    return next(path for path in (HERE / "LICENSE", HERE / "../../../LICENSE") if path.is_file()).read_bytes()


def metadata():
    readme = (HERE / "README.md").read_text("utf-8")
    return f"""Metadata-Version: 2.1
Name: agent-messaging
Version: {VERSION}
Summary: Client of the Agent Messaging Service
License: MIT
License-File: LICENSE
Requires-Python: >=3.10
Classifier: Private :: Do Not Upload
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}""".encode()


def sources():
    return {f"agent_messaging/{path.name}": path.read_bytes() for path in sorted(PACKAGE.glob("*.py"))} | {
        "agent_messaging/py.typed": b""
    }


def record(files):
    """The list of a wheel's files with their hashes."""
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{NAME}.dist-info"
    files = sources() | {
        f"{info}/METADATA": metadata(),
        f"{info}/WHEEL": WHEEL.encode(),
        f"{info}/LICENSE": license_text(),
    }
    files[f"{info}/RECORD"] = (record(files) + f"{info}/RECORD,,\n").encode()
    name = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980, whenever it is built
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    files = sources() | {name: (HERE / name).read_bytes() for name in ("pyproject.toml", "build_package.py", "README.md")}
    files |= {"LICENSE": license_text(), "PKG-INFO": metadata()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    name = f"{NAME}.tar.gz"
    Path(sdist_directory, name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


if __name__ == "__main__":
    for build in (build_wheel, build_sdist):
        print(build(sys.argv[1]))
