"""Where things lie: what is installed, the data of the system that is measured, the logs. All can be made again."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from . import procs

PACKAGE = Path(__file__).parent
STAMP = "installed.txt"


def default_home() -> Path:
    """The platform's folder for what can be made again."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "quipu-peers"


@dataclass(frozen=True)
class Home:
    """A folder for everything that the comparison makes, but for its results."""

    root: Path

    @property
    def data(self) -> Path:
        """The data of the system that is measured now."""
        return self.root / "data"

    @property
    def logs(self) -> Path:
        """What the systems said."""
        folder = self.root / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def fresh(self, name: str) -> Path:
        """An empty folder for data."""
        folder = self.data / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def tool(self, name: str) -> Path:
        """The folder that a system is installed in."""
        return self.root / "tools" / name

    def python(self, name: str) -> Path:
        """The Python of a system's own environment."""
        return self.tool(name) / "bin" / "python"

    def is_installed(self, name: str, packages: list[str]) -> bool:
        """Whether just these packages were installed there."""
        stamp = self.tool(name) / STAMP
        return stamp.exists() and stamp.read_text().split() == packages

    def stamp(self, name: str, packages: list[str]) -> None:
        """Notes what was installed."""
        (self.tool(name) / STAMP).write_text("\n".join(packages) + "\n")

    def by_pip(self, name: str, packages: list[str], alone: tuple[str, ...] = ()) -> None:
        """An environment with these packages; those that stand alone come without what they depend on."""
        wanted = [*packages, *alone]
        if self.is_installed(name, wanted):
            return
        shutil.rmtree(self.tool(name), ignore_errors=True)
        procs.run([interpreter(), "-m", "venv", str(self.tool(name))])
        pip = [str(self.python(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if packages:
            procs.run([*pip, *packages])
        if alone:
            procs.run([*pip, "--no-deps", *alone])
        self.stamp(name, wanted)

    def by_npm(self, name: str, packages: list[str]) -> None:
        """A folder with these packages."""
        if self.is_installed(name, packages):
            return
        folder = self.tool(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}')
        procs.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *packages], cwd=folder)
        self.stamp(name, packages)

    def by_cargo(self, name: str, crate: str, version: str) -> Path:
        """A program that is compiled from its crate; this takes minutes."""
        packages = [f"{crate}@{version}"]
        if not self.is_installed(name, packages):
            command = ["cargo", "install", "--quiet", "--locked", "--root", str(self.tool(name)), *packages]
            # One folder for all of them: they share what both need, and one that is interrupted goes on where it was.
            build = {**os.environ, "CARGO_TARGET_DIR": str(self.root / "build")}
            procs.run(command, patience=3600, env=build)
            self.stamp(name, packages)
        return self.tool(name) / "bin" / crate


def interpreter() -> str:
    """A Python whose SQLite takes extensions, which some builds leave out; else the one that runs this."""
    check = "import sqlite3, venv; sqlite3.Connection.enable_load_extension"
    for candidate in (sys.executable, "/usr/bin/python3", shutil.which("python3") or ""):
        if candidate and Path(candidate).exists():
            try:
                procs.run([candidate, "-c", check])
            except RuntimeError:
                continue
            return candidate
    return sys.executable


def debian(program: str, package: str, folders: str = "/usr/bin") -> Path:
    """A program of the system; installed by its package manager where it is missing and we may."""

    def seek() -> Path | None:
        on_path = shutil.which(program)
        if on_path:
            return Path(on_path)
        found = sorted(Path("/").glob(f"{folders.lstrip('/')}/{program}"))
        return found[-1] if found else None

    found = seek()
    if found is None:
        procs.run(["apt-get", "install", "-y", "--no-install-recommends", package])
        found = seek()
    if found is None:
        raise RuntimeError(f"there is no {program}, also after {package} was installed")
    return found


def reachable_by_others(folder: Path) -> bool:
    """Whether any user of the machine can go into a folder."""
    return all(parent.stat().st_mode & 0o001 for parent in [folder, *folder.parents] if parent.exists())
