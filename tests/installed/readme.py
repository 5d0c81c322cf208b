"""Every block of Python of the README, run from the root of the clone with the installed package. Run as a script."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The clone must not shadow the package: Python finds what lies in the current folder first.
found = "import stoneworks, stoneworks.envs; print(stoneworks.__file__)"
place = Path(subprocess.check_output([sys.executable, "-c", found], cwd=ROOT, text=True).strip())
assert "site-packages" in place.parts, place

blocks = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
assert len(blocks) > 1
for block in blocks:
    subprocess.run([sys.executable, "-c", block], cwd=ROOT, check=True)
print("ok")
