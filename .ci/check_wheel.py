"""Check that a wheel holds what it should and nothing more.

Usage: ``check_wheel.py WHEEL CHECKOUT``, the checkout being the folder that the wheel was built in.
"""

import fnmatch
import re
import sys
import zipfile
from pathlib import Path, PurePosixPath

PACKAGE = "gssbo"

# What compiled modules are made from stays at home; so does the extension that only tests use.
SOURCES = {".pyx", ".pxd", ".pxi", ".c", ".h", ".build", ".in"}
TESTS_ONLY = {"_testing"}
EXTENSION = re.compile(r"\.(so|pyd)$")
KINDS = ("*.py", "*/py.typed", "*.csv")
LARGEST = 20_000_000  # bytes, all files together


def expected_files(package: Path) -> tuple[set[str], set[str]]:
    """Return the files to find as they are and the compiled modules, both as paths in the wheel."""
    plain, compiled = set(), set()
    for path in package.rglob("*"):
        name = PurePosixPath(PACKAGE, *path.relative_to(package).parts)
        if path.is_dir() or "__pycache__" in name.parts or name.stem in TESTS_ONLY:
            continue
        if path.suffix == ".pyx":
            compiled.add(str(name.with_suffix("")))
        elif path.suffix not in SOURCES:
            plain.add(str(name))
    return plain, compiled


def complaints(wheel: Path, checkout: Path) -> list[str]:
    """Return a line for everything that is wrong with the wheel."""
    plain, compiled = expected_files(checkout / "src" / PACKAGE)
    found = []
    with zipfile.ZipFile(wheel) as archive:
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}
        names = {name for name in infos if ".dist-info/" not in name}
        extensions = {name for name in names if EXTENSION.search(name)}
        built = {name.partition(".")[0] for name in extensions}

        found += [f"{name} is missing" for name in sorted(plain - names)]
        found += [f"{name} was not built" for name in sorted(compiled - built)]
        found += [f"{name} has no source" for name in sorted(built - compiled)]
        found += [f"{name}.pyi is missing" for name in sorted(compiled) if f"{name}.pyi" not in names]
        found += [f"{name} does not belong in a wheel" for name in sorted(names - plain - extensions)]
        found += [f"no {kind} in it" for kind in ("*.py", "*/py.typed", "*.csv") if not fnmatch.filter(names, kind)]
        if not compiled:
            found.append("the checkout has no compiled module")
        if not fnmatch.filter(infos, "*.dist-info/licenses/LICENSE"):
            found.append("the licence is missing")
        if sum(info.file_size for info in infos.values()) > LARGEST:
            found.append(f"larger than {LARGEST} bytes unpacked")

        build_path = str(checkout).encode()
        found += [f"{name} names the build folder" for name in sorted(infos) if build_path in archive.read(name)]

        metadata = archive.read(next(name for name in infos if name.endswith(".dist-info/METADATA"))).decode()
        required = re.findall(r"^Requires-Dist: *([\w.-]+)(?!.*\bextra\b)", metadata, re.MULTILINE)
        if sorted(required) != ["numpy", "scipy"]:
            found.append(f"requires {', '.join(sorted(required)) or 'nothing'} rather than numpy and scipy")
    if not found:
        print(f"{wheel.name}: {len(names)} files, {len(built)} compiled, {wheel.stat().st_size / 1024:.0f} KiB")
    return found


if __name__ == "__main__":
    problems = complaints(Path(sys.argv[1]), Path(sys.argv[2]).resolve())
    if problems:
        sys.exit("\n".join(f"{Path(sys.argv[1]).name}: {problem}" for problem in problems))
