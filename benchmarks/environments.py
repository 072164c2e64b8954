"""Virtual environments for the rivals, whose requirements contradict ours and each other's.

Decides nothing itself: the benchmarks that run rivals use it. diffprivlib 0.6.6 imports only with scikit-learn up to
1.6 and needs numpy 2. Everything that affects accuracy or speed is pinned; the environments are a cache and may be
deleted at any time.

    python benchmarks/environments.py      builds both and prints their interpreters
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE / ".environments"
REQUIREMENTS = {
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.6.1", "numpy==2.4.6", "scipy==1.17.1", "joblib<2"),
    "ebm": ("interpret-core==0.7.8", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1", "pandas<4"),
}


def interpreter(name: str) -> Path:
    """Where the environment's Python is, or will be."""
    folder, program = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return CACHE / name / folder / program


def create(name: str) -> Path:
    """Build the environment unless one with the same requirements is there; return its interpreter."""
    built = CACHE / name / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS[name]) + "\n"
    if built.exists() and built.read_text(encoding="utf-8") == wanted:
        return interpreter(name)
    shutil.rmtree(CACHE / name, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(CACHE / name)], check=True)
    install = [str(interpreter(name)), "-m", "pip", "install", "--quiet", *REQUIREMENTS[name]]
    subprocess.run(install, check=True)
    # Written last: a half-built environment has no such file and is built anew.
    built.write_text(wanted, encoding="utf-8")
    return interpreter(name)


def run(name: str, script: str, *options: str) -> str:
    """Run a script of this folder in an environment, on one thread: contestants are timed alike. Returns its output."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [str(create(name)), str(HERE / script), *options]
    return subprocess.run(command, check=True, env={**os.environ, **single}, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Build all environments."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0]).parse_args()
    for name in REQUIREMENTS:
        print(name, create(name))


if __name__ == "__main__":
    main()
