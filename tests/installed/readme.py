"""Every block of Python of the README, run from the root of the clone with the installed package. Run as a script."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The clone must not shadow the package: Python finds what lies in the current folder first.
found = "import stoneworks, stoneworks.envs; print(stoneworks.__file__)"
place = Path(subprocess.check_output([sys.executable, "-c", found], cwd=ROOT, text=True).strip())
assert "site-packages" in place.parts, place

blocks = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
assert len(blocks) > 2
with tempfile.TemporaryDirectory() as folder:
    for block in blocks:
        code = block.replace('"my-arena"', repr(str(Path(folder) / "my-arena")))
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
print("ok")
